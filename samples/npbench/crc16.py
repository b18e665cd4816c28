"""CRC-16 of a sequence of bytes (CCITT polynomial, least significant bit first, inverted, bytes swapped).

Every byte waits for the one before it: one lane of one program does all the work.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 1600}, "M": {"N": 16000}}
CASES = [{"N": 5}, {"N": 1}, {"N": 0}]
POLYNOMIAL = 0x8408


@intent.kernel
def checksum(data: I.In[I.u8, ("N",)], crc: I.Out[I.u16, ()]):
    register = I.cast(0xFFFF, I.u32)
    for n in range(data.shape[0]):
        register = register ^ I.cast(data[n], I.u32)
        for _ in range(8):
            register = I.select((register & 1) == 1, (register >> 1) ^ POLYNOMIAL, register >> 1)
    inverted = (~register) & 0xFFFF
    crc[()] = I.cast(((inverted << 8) | (inverted >> 8)) & 0xFFFF, I.u16)


def build(context):
    compute = context.compile("checksum", checksum)

    def crc16(data):
        return compute.run(data)

    return crc16


def inputs(rng, case):
    import numpy as np

    return {"data": rng.integers(0, 256, case["N"]).astype(np.uint8)}


def reference(data):
    import numpy as np

    crc = 0xFFFF
    for byte in data.tolist():
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ POLYNOMIAL if crc & 1 else crc >> 1
    crc = ~crc & 0xFFFF
    return np.uint16((crc << 8 | crc >> 8) & 0xFFFF)
