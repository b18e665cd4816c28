"""For every code of the catalogue that a file of kernels can have, a program that has it, and how that is reported.

Most programs are the body of one kernel, with the example of the catalogue in it. `golden/diagnostics.txt` holds what
the command line prints for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import indent
from typing import Final

import pytest
from sample_files import ROOT

from intent.host import ignored_compiler
from intentc import inputs, render
from translators.diagnostics import Diagnostic, Rejected
from translators.pipeline import compile_text

PATH: Final = "kernels.py"
NOT_UTF8: Final = "y = größe\n".encode("latin-1")
PAGE: Final = ROOT / "golden" / "diagnostics.txt"
HEADER: Final = "import intent\nimport intent.language as I\n\n\n"
PARAMETERS: Final = (
    'x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], h: I.In[I.f16, ("N",)], m: I.In[I.f32, ("M", "N")], '
    'b: I.In[I.f32, ("M",)], z: I.InOut[I.f32, ("N",)], at: I.In[I.i32, ("N",)], four: I.In[I.f32, (4,)], '
    "n: I.i32, s: I.f32"
)

BODIES: Final = {
    "INT001": "y[0] = x[0",
    "INT101": "y[0] = x[0] * scael",
    "INT102": "y[:] = I.softplus(x[:])",
    "INT104": "return x[0]",
    "INT106": "kernel(x, y)",
    "INT117": "v = I.cumsum(x[:], axis=0, inclusive=s > 0.0)",
    "INT118": "y[0] = helpers.scale(x[0])",
    "INT119": "with open('log') as f:\n    y[0] = x[0]",
    "INT120": "y[:] = I.reduce.sum(m[:, :], axis=0, keepdim=True)",
    "INT122": "y[0] = math.exp(x[0])",
    "INT123": "low, high = x[0]",
    "INT124": "I = x[0]",
    "INT125": "y[0] = I",
    "INT201": "y[0] = h[0] * s",
    "INT202": "if n < x.shape[0]:\n    y[0] = s",
    "INT203": "v = I.cast(0, I.u8) + 300",
    "INT204": "v = n + 0.5",
    "INT205": "v = n / 2",
    "INT207": "v = I.bitcast(s, I.i64)",
    "INT208": "if n:\n    y[0] = s",
    "INT209": "y[0] = I.cast(I.exp2(I.cast(s, I.f64), approximate=True), I.f32)",
    "INT210": "y[0] = I.select(s > 0.0, 1.0, -1.0)",
    "INT211": "v = n + 4 // 0",
    "INT212": "v = I.cast(n, I.u8) << 8",
    "INT213": "v = I.cast(n, 64)",
    "INT214": "v = I.exp(n)",
    "INT215": "v = n % 0",
    "INT216": "v = n ** -1",
    "INT301": "rows = I.domain(0, 4)\ny[rows] = x[rows + 1]",
    "INT302": "rows, columns = I.domain(0, m.shape[0]), I.domain(0, m.shape[1])\n"
    "v = I.reduce.sum(m[rows, columns], axis=columns)",
    "INT303": "for i in range(n - 1, -1, -1):\n    y[i] = s",
    "INT304": "rows = I.domain(0, x[:])",
    "INT305": "rows = I.domain(0, x.shape[0])\ny[rows] = x[rows[0:8:2]]",
    "INT306": "rows = I.domain(0, 8)[4:12]",
    "INT307": "for v in x[:]:\n    y[0] = v",
    "INT308": "groups = I.ragged(x, I.domain(0, 4), at)",
    "INT309": "v = I.indices(x[:])",
    "INT310": "I.assume_in_bounds(s, x, axis=0)",
    "INT401": "v = b[:] + m[:, :]",
    "INT402": "v = x[:] + b[:]",
    "INT403": "v = I.reshape(four[:], (4, 4))",
    "INT404": "v = I.zeros(s.shape, I.f32)",
    "INT405": "v = I.transpose(m[:, :], (0, 0))",
    "INT406": "v = I.join(x[:], x[0:1])",
    "INT407": "v = I.reduce.sum(m[:, :], axis=2)",
    "INT408": "if I.dot(x[:], x[:], acc_dtype=I.f32) > 0.0:\n    y[0] = s",
    "INT409": "v = I.outer(m[:, :], x[:])",
    "INT411": "v = I.zeros(x, I.f32)",
    "INT412": "v = I.reshape(x[:], (-1, -1))",
    "INT413": "stats = I.record(total=s, count=n)\ny[0] = stats.mean",
    "INT414": "v = (s, s) + 1.0",
    "INT415": "v = I.reduce.sum(n, axis=0)",
    "INT501": "v = x[:, :]",
    "INT502": "v = x[x[:]]",
    "INT503": "y[0] = four[4]",
    "INT504": "i = I.cast(at[:], I.index)\nt = I.zeros((4, 4, 4), I.f32)\nv = t[i, :, i]",
    "INT505": "y[None, 0] = s",
    "INT506": "x[0] = 0.0",
    "INT507": "v = x[:]\nv[0] = 1.0",
    "INT508": "y[0] = y[0] + x[0]",
    "INT509": "y[0] = m[0, :]",
    "INT510": "v = I.exp(x)",
    "INT511": "for i in I.parallel(I.domain(0, n)):\n    y[0] = x[i]",
    "INT512": "v = I.gather(x, index=(I.indices(I.domain(0, 4)),), valid=1, fill=0)",
    "INT513": "v = I.atomic.load(z, (0,), order='release')",
    "INT514": "I.scatter_reduce(z, (at[:],), x[:], combine=I.select)",
    "INT516": "v = x[0:n:2]",
    "INT517": "I.store(y, (0,), s, mask=s > 0.0)",
    "INT519": "rows = I.domain(0, 4)\nrows[0] = 1",
    "INT520": "i, j = I.indices(I.domain(0, m.shape[0])), I.indices(I.domain(0, m.shape[1]))\nv = m[i, j]",
    "INT521": "t = I.buffer((4,), I.i32, init=s)",
    "INT601": "v = I.reduce.sum(x[:], axis=())",
    "INT602": "v = I.reduce((x[:], x[:]), axis=0, identity=0.0, combine=merge)",
    "INT603": "v = I.reduce(x[:], axis=0, identity=0.0, combine=greater)",
    "INT604": "v = I.scan(x[:], axis=0, identity=0.0, combine=1.0)",
    "INT605": "v = I.reduce.any(at[:], axis=0)",
    "INT606": "v = I.reduce.sum(x[:], axis=0, acc_dtype=I.i32)",
    "INT607": "v = I.reduce((x[:], b[:]), axis=0, identity=(0.0, 0.0), combine=merge_pairs)",
    "INT608": "v = I.region_fold(x[:], axis=0, identity=0.0, summarize=whole, combine=merge)",
    "INT609": "v = I.region_fold(x[:], axis=0, identity=0.0, summarize=whole, combine=merge)",
    "INT610": "v = I.histogram(x[:], bins=8, valid=x[:] > 0.0, count_dtype=I.i32)",
    "INT701": "v = I.dot(m[:, :], x[:], acc_dtype=I.f32)",
    "INT702": "v = I.dot(h[:], x[:], acc_dtype=I.f32)",
    "INT703": "v = I.matmul(m[:, :], m[:, :], acc_dtype=I.f32)",
    "INT704": "v = I.contract(m[:, :], m[:, :], reduce=(1, 0), acc_dtype=I.f32)",
    "INT705": "v = I.dot(x[:], x[:], acc_dtype=I.f16)",
    "INT801": "if x[:] > 0.0:\n    y[0] = s",
    "INT802": "total = 0\nfor i in range(4):\n    total = x[i]\ny[0] = total",
    "INT803": "if s > 0.0:\n    v = x[0]\ny[0] = v",
    "INT804": "total = I.cast(0.0, I.f32)\nfor i in I.parallel(I.domain(0, 4)):\n    total = total + x[i]",
    "INT805": "for i in I.parallel(I.domain(0, 4)):\n    break",
    "INT806": "if s > 0.0:\n    break",
    "INT807": "for i in I.parallel(I.domain(0, 4)):\n    return",
    "INT808": "v = s if s > 0.0 else n",
    "INT809": "assert n > 0",
}
MERGE: Final = "@intent.fn\ndef merge(a, b):\n    return a + b\n"
HELPERS: Final = {
    "INT602": MERGE,
    "INT603": "@intent.fn\ndef greater(a, b):\n    return a > b\n",
    "INT607": "@intent.fn\ndef merge_pairs(a, b):\n    return a[0] + b[0], a[1] + b[1]\n",
    "INT608": "@intent.fn\ndef whole(part):\n    return I.reduce.sum(part, axis=0), 0.0\n\n\n" + MERGE,
    "INT609": "@intent.fn\ndef whole(part):\n    return part\n\n\n" + MERGE,
    "INT122": "import math\n",
    "INT118": "from .helper import scale as helpers\n",
}

SIGNATURES: Final = {
    "INT103": "*views",
    "INT110": "x, n: int",
    "INT111": 'x: I.In[I.f32, ("1", -3)]',
    "INT112": 'x: I.In[I.f32, ("N",), I.constraints(alias="g", noalias=True)]',
    "INT113": "WIDTH: I.Constexpr[int]",
    "INT114": "WIDTH: I.Constexpr[I.i32] = 3",
    "INT121": 'x: I.In[I.f32, ("N",)], scale: I.f32 = 1.0',
    "INT206": 'x: I.In["float32", ("N",)]',
}
VECTOR: Final = 'x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]'
ATTENTION: Final = """@intent.fn
def merge(a, b):
    return a + b


@intent.fn
def weighted(v, key, query):
    weights = I.mask(I.full((query.shape[0], key.shape[0]), 1.0, I.f32), key[None, :] <= query[:, None], 0.0)
    return I.matmul(weights, v, acc_dtype=I.f32)


@intent.kernel
def kernel(v: I.In[I.f32, ("T", 16)], y: I.Out[I.f32, ("S", 16)]):
    queries, keys = I.domain(0, y.shape[0]), I.domain(0, v.shape[0])
    y[queries, :] = I.region_fold(
        (v[keys, :], I.indices(keys)), axis=0, summarize=weighted, combine=merge,
        identity=I.zeros((y.shape[0], 16), I.f32), operands=(I.indices(queries),),
    )
"""


def _kernel(body: str, parameters: str = VECTOR) -> str:
    return f"@intent.kernel\ndef kernel({parameters}):\n{indent(body, '    ')}\n"


SCALE: Final = _kernel("y[:] = x[:] * s + 1.0", f"{VECTOR}, s: I.f32").replace("def kernel", "def scale") + "\n\n"
TEXTS: Final = {
    "INT003": _kernel("y[0] = " + "-" * 3000 + "x[0]"),
    "INT004": f"def scale({VECTOR}):\n    y[:] = x[:]\n",
    "INT105": "@intent.fn\ndef f(v):\n    return f(v - 1)\n\n\n" + _kernel("y[0] = f(x[0])"),
    "INT107": "@intent.fn\ndef f(v):\n    return v * scale\n\n\n" + _kernel("scale = x[1]\ny[0] = f(x[0])"),
    "INT108": "@intent.fn\ndef f(v, w):\n    return v + w\n\n\n" + _kernel("y[0] = f(x[0], x[1], x[2])"),
    "INT109": "@intent.fn\ndef f(v, c):\n    if c:\n        return v\n    return I.reduce.sum(v, axis=0)\n\n\n"
    + _kernel("v = f(x[:], x[0] > 0.0)"),
    "INT116": _kernel("y[:] = x[:]") + "\n\n" + _kernel("y[:] = x[:]"),
    "INT126": SCALE + "def scaled(x, out):\n    return scale(x, out, 1.0)\n",
    "INT127": SCALE + "def scaled(x):\n    return intent.compile(scale).run(x)\n",
    "INT128": SCALE
    + "def build(context):\n    scaled = context.compile(scale)\n    return lambda x: scaled.run(x, 1.0)\n",
    "INT115": SCALE + "def scaled(x):\n    return intent.compile(scale, constexprs={'WIDHT': 64}).run(x, 1.0)\n",
    "INT515": "@intent.fn\ndef combine(a, b, y):\n    y[0] = a\n    return a + b\n\n\n"
    + _kernel("y[1] = I.reduce(x[:], axis=0, identity=0.0, combine=combine, combine_operands=(y,))"),
    "INT706": _kernel(
        "c[:, :] = I.scaled_matmul(\n"
        "    a[:, :, :], sa[:, :], b[:, :, :], sb[:, :], lhs_format=I.f8e4m3fn, rhs_format=I.e4m3,\n"
        "    group_size=32, acc_dtype=I.f32,\n)",
        'a: I.In[I.f8e4m3fn, ("M", "G", 32)], sa: I.In[I.u8, ("M", "G")], b: I.In[I.f8e4m3fn, ("G", 32, "N")], '
        'sb: I.In[I.u8, ("N", "G")], c: I.Out[I.f32, ("M", "N")]',
    ),
    "INT900": _kernel(
        "for i in I.parallel(I.domain(0, 4)):\n    t = I.buffer((I.cast(at[i], I.index),), I.f32, init=0.0)\n"
        "    for j in range(4):\n        t[j] = x[j] + t[0]\n    y[i] = t[0] + t[1]",
        f'{VECTOR}, at: I.In[I.i32, ("N",)]',
    ),
    "INT902": SCALE + "def build(context):\n    context.compile('s', scale)(1, 2, 3)\n",
    "INT950": _kernel("i = I.domain(0, x.shape[0])\ny[i] = x[j[i]]", f'{VECTOR}, j: I.In[I.i32, ("N",)]'),
    "INT951": _kernel("if c:\n    y[:] = x[:] * 2.0 + 1.0", f"{VECTOR}, c: I.bool"),
    "INT952": _kernel(
        "i = I.domain(0, x.shape[0])\np = I.cast(j[i], I.index)\nI.assume_in_bounds(p, z, axis=0)\nz[p] = x[i]",
        'x: I.In[I.f32, ("N",)], j: I.In[I.i32, ("N",)], z: I.InOut[I.f32, ("N",)]',
    ),
    "INT953": _kernel(
        "for r in I.parallel(I.domain(0, m.shape[0])):\n    for t in range(0, m.shape[1]):\n"
        "        m[r, t] = m[r, t] + x[t]\nm[0, 0] = m[0, 0] + m[m.shape[0] - 1, 0]",
        'x: I.In[I.f32, ("N",)], m: I.InOut[I.f32, ("R", "N")]',
    ),
    "INT954": _kernel("y[:] = x[:] + 1.0"),
    "INT955": _kernel(
        "c[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)",
        'a: I.In[I.f16, ("M", "K")], b: I.In[I.f16, ("K", "N")], c: I.Out[I.f32, ("M", "N")]',
    ),
    "INT956": _kernel(
        "n = x.shape[0]\ns = I.cast(0.0, I.f32)\nfor i in range(n):\n    s = s * a + x[i]\n    y[i] = s",
        f"{VECTOR}, a: I.f32",
    ),
    "INT957": _kernel(
        'for i in I.parallel(I.domain(0, slot.shape[0])):\n    slot[i] = I.atomic.add(count, (0,), 1, order="relaxed")',
        'count: I.InOut[I.i32, (1,)], slot: I.Out[I.i32, ("N",)]',
    ),
    "INT958": _kernel("y[()] = I.reduce.sum(x[:], axis=0)", 'x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]'),
    "INT959": _kernel(
        "for g in I.parallel(I.domain(0, y.shape[0])):\n"
        "    v = I.cast(0.0, I.f32)\n"
        "    for t in range(I.minimum(I.cast(lengths[g], I.index), x.shape[1])):\n"
        "        v = v + x[g, t]\n"
        "    y[g] = v",
        'lengths: I.In[I.i32, ("G",)], x: I.In[I.f32, ("G", "T")], y: I.Out[I.f32, ("G",)]',
    ),
    "INT961": _kernel(
        "v = I.reshape(x[:], (x.shape[0] // 4, 4))\nz[I.domain(0, x.shape[0] // 4)] = I.reduce.sum(v, axis=1)",
        'x: I.In[I.f32, ("N",)], z: I.InOut[I.f32, ("N",)]',
    ),
    "INT962": SCALE + "def compare(x):\n    plot(intent.compile(scale).run(x, 1.0))\n",
    "INT963": ATTENTION,
}


def programs() -> dict[str, str]:
    """code -> the text of a program that has it."""
    texts = {code: _text(code, body) for code, body in BODIES.items()}
    texts |= {code: HEADER + _kernel("pass", parameters) for code, parameters in SIGNATURES.items()}
    texts |= {code: HEADER + text for code, text in TEXTS.items()}
    return dict(sorted(texts.items()))


def _text(code: str, body: str) -> str:
    helper = f"{HELPERS[code]}\n\n" if code in HELPERS else ""
    return f"{HEADER}{helper}@intent.kernel\ndef kernel({PARAMETERS}):\n{indent(body, '    ')}\n"


def page() -> str:
    """What the command line prints for each program, and for the codes that no text of a program has."""
    shown = {
        code: "\n".join(_reported(compile_text(text, PATH).diagnostics, text)) for code, text in programs().items()
    }
    shown |= {
        code: "\n".join(_reported([found], NOT_UTF8.decode(errors="replace")))
        for code, found in given_elsewhere().items()
    }
    return "\n\n".join(shown[code] for code in sorted(shown)) + "\n"


def _reported(diagnostics: Iterable[Diagnostic], text: str) -> Iterator[str]:
    sources = render.Sources()
    sources.add(PATH, text)
    return (render.full(each, sources) for each in diagnostics)


def given_elsewhere() -> dict[str, Diagnostic]:
    """By what reads the files, and by the host."""
    return {
        "INT002": _unreadable(NOT_UTF8),
        "INT005": _unreadable(b" " * (inputs.LARGEST + 1)),
        "INT960": ignored_compiler(),
    }


def _unreadable(content: bytes) -> Diagnostic:
    with pytest.raises(Rejected) as raised:
        inputs.decoded(content, PATH)
    return raised.value.diagnostic
