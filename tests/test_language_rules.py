"""What the language accepts and what it rejects: a small program for each side of a rule, with the code of its error.

What the accepted programs compute is tested elsewhere; here it matters that the rules have no holes and no surplus.
"""

from __future__ import annotations

from textwrap import indent

import pytest

from translators.pipeline import compile_text

HEADER = "import intent\nimport intent.language as I\n\n"
MODULE = "W = (1, 2)\n\n\nclass Mode(I.Enum):\n    A = 0\n    B = 1\n\n\n"
VIEWS = 'x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]'
PARAMETERS = (
    'x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.InOut[I.f32, ("N",)], h: I.In[I.f16, ("N",)], '
    'b: I.In[I.f32, ("M",)], m: I.In[I.f32, ("M", "N")], four: I.In[I.f32, (4,)], r0: I.In[I.f32, ()], '
    'at: I.In[I.i32, ("N",)], g: I.In[I.bool, ("N",)], u: I.In[I.u8, ("N",)], e8: I.In[I.f8e4m3fn, ("N",)], '
    "n: I.i32, q: I.i64, s: I.f32, f: I.bool"
)

LEGAL_BODIES = (
    "d = I.domain(0, x.shape[0])\nv = x[d[0:n]] + x[d[0:n]]",
    "d = I.domain(0, x.shape[0])\nif f:\n    v = x[d[0:n]]\nw = x[d[0:n]] + x[d[0:n]]",
    "best = I.cast(0, I.index)\nfor i in range(n):\n    best = i\nz[0] = I.cast(best, I.f32)",
    "acc: I.f32 = 0.0\nfor i in range(n):\n    acc += x[i]\nz[0] = acc",
    "z[0] = I.cast(I.select(f, 1.0, -1.0), I.f32)",
    "z[:] = x[:] if f else -x[:]",
    "y[0] = s\nz[0] = y[0]",
    "z[0] = s ** 2.0",
    "z[0] = s ** 2",
    "z[0] = I.cast(n << 31, I.f32)",
    "z[0] = I.cast(~n, I.f32)",
    "z[0] = I.cast(~f, I.f32)",
    "z[0] = I.cast(f & True, I.f32)",
    "z[0] = I.cast(I.cast(1, I.u8) - 2, I.f32)",
    "z[0] = I.cast(I.cast(-1, I.u8), I.f32)",
    "z[0] = I.bitcast(n, I.f32)",
    "z[0] = I.cast(I.bitcast(u[0], I.i8), I.f32)",
    "d = I.domain(0, n)\nz[0] = I.cast(I.end(d), I.f32)",
    "for i in I.parallel(I.domain(0, x.shape[0])):\n    if f:\n        continue\n    z[i] = x[i]",
    "z[:] += 1.0",
    "z[:] = m[0]",
    "z[-1] = s",
    "z[0] = four[-4]",
    "z[0] = r0[()]",
    "z[:] = r0[()]",
    "z[0] = x[n]",
    "z[:] = x[at[:]]",
    "z[:] = I.reduce.sum(m[:, :], axis=0)",
    "z[0] = I.cast(I.reduce.any(g[:], axis=0), I.f32)",
    "z[0] = I.reduce.sum(m[:, :], axis=(0, 1))",
    "v, i = I.arg_reduce.max(x[:], axis=0)\nz[0] = v",
    "v, i = I.arg_reduce.max(x[:], axis=0)\nz[0] = I.cast(I.cast(i, I.i64) + q, I.f32)",
    "z[:] = I.cumsum(x[:], axis=0)",
    "z[:] = I.cumsum(h[:], axis=0)",
    "z[0] = I.dot(x[:], x[:], acc_dtype=I.f32)",
    "z[:] = I.dot(x[:], x[:], acc_dtype=I.f32)",
    "z[:] = I.vecmat(b[:], m[:, :], acc_dtype=I.f32)",
    "z[:] = I.matvec(m[:, :], b[:], acc_dtype=I.f32, transpose=True)",
    "if I.reduce.any(g[:], axis=0):\n    z[0] = s",
    "while n > 0:\n    break",
    "if f:\n    return\nz[0] = s",
    "z[0] = I.random.uniform(I.cast(1, I.u64), I.cast(n, I.index), dtype=I.f32)",
    "z[0] = I.exp2(s, approximate=True, flush_to_zero=True)",
    "I.assume_in_bounds(at[0], x, axis=0)\nz[0] = x[at[0]]",
    "z[:] = I.gather(x, index=(at[:],), valid=g[:], fill=0)",
    "z[:] = I.gather(x, index=(at[:],), valid=g[:], fill=-1)",
    "I.scatter_reduce(z, (at[:],), x[:], combine=I.maximum)",
    "z[:] = I.reshape(I.reshape(x[:], (x.shape[0], 1)), (...,))",
    "v = I.full((), s, I.f32)\nz[0] = v",
    "if Mode.A == Mode.B:\n    z[0] = 1.0\nelse:\n    z[0] = s",
    "v = I.transpose(m[:, :])\nz[0] = v[0, 0]",
    "v = I.record(a=s)\nz[0] = v.a",
    "v = (s, n)\nz[0] = v[0]",
    "for i in range(3):\n    z[i] = I.cast(i, I.f32)",
)
WRONG_BODIES = (
    ("INT402", "d = I.domain(0, x.shape[0])\nv = x[d[0:n]] + x[d[0 : n + 1]]"),
    ("INT101", "y[0] = I.cast(N, I.f32)"),
    ("INT101", "z[0] = Mode.C"),
    ("INT104", "return s"),
    ("INT117", "z[0] = I.tanh(s, approximate=f)"),
    ("INT119", "a, *c = (s, s, s)"),
    ("INT119", "lambda: s"),
    ("INT119", "del s"),
    ("INT120", "z[0] = I.reduce.sum(x[:], axis=0, keepdim=True)"),
    ("INT120", "z[0] = I.reduce.sum(x[:])"),
    ("INT120", "z[0] = I.dot(x[:], x[:])"),
    ("INT122", "z[0] = abs(s)"),
    ("INT123", "(a, c) = (s, s, s)"),
    ("INT201", "z[0] = I.cast(n << s, I.f32)"),
    ("INT201", "z[0] = I.cast(n & f, I.f32)"),
    ("INT201", "v = I.full((), n, I.f32)"),
    ("INT202", "if q < x.shape[0]:\n    y[0] = s"),
    ("INT202", "v, i = I.arg_reduce.max(x[:], axis=0)\nz[0] = I.cast(i + q, I.f32)"),
    ("INT203", "z[0] = s + 1e39"),
    ("INT203", "z[0] = I.cast(I.cast(1, I.u8) + (-2), I.f32)"),
    ("INT203", "z[0] = I.cast(h[0] + 70000, I.f32)"),
    ("INT203", "z[0] = I.cast(h[0] + 70000.0, I.f32)"),
    ("INT203", "z[0] = I.cast(I.cast(500.0, I.f8e4m3fn), I.f32)"),
    ("INT203", "z[0] = I.cast(e8[0] + I.inf, I.f32)"),
    ("INT204", "z[0] = I.cast(I.indices(I.domain(0,4))[0] + 0.5, I.f32)"),
    ("INT204", "z[:] = I.gather(x, index=(at[:],), valid=g[:], fill=False)"),
    ("INT205", "z[0] = s % 2.0"),
    ("INT205", "z[0] = s // 2.0"),
    ("INT205", "z[0] = I.cast(n / 2, I.f32)"),
    ("INT205", "z[0] = ~s"),
    ("INT205", "z[0] = I.cast(f + f, I.f32)"),
    ("INT205", "z[0] = -f"),
    ("INT207", "z[0] = I.bitcast(f, I.f32)"),
    ("INT209", "z[0] = I.tanh(I.cast(h[0], I.f64), approximate=True)"),
    ("INT209", "z[0] = I.exp2(s, flush_to_zero=True)"),
    ("INT210", "z[0] = I.select(f, 1.0, -1.0)"),
    ("INT210", "z[0] = 1.0 if f else -1.0"),
    ("INT210", "z[0] = I.abs(n)"),
    ("INT210", "z[0] = I.sqrt(4.0)"),
    ("INT210", "I.atomic.add(z, (0,), n, order='relaxed')"),
    ("INT210", "I.scatter_unique(z, (at[:],), h[:])"),
    ("INT210", "z[0] = x.shape[0]"),
    ("INT210", "for i in range(3):\n    z[i] = i"),
    ("INT211", "z[0] = I.cast(I.cast(1e10, I.i32), I.f32)"),
    ("INT211", "z[0] = I.cast(I.cast(I.inf, I.i32), I.f32)"),
    ("INT212", "z[0] = I.cast(n << 32, I.f32)"),
    ("INT212", "z[0] = I.cast(n >> -1, I.f32)"),
    ("INT212", "z[0] = I.cast(n << I.cast(32, I.i32), I.f32)"),
    ("INT212", "z[:] = I.cast(I.cast(x[:], I.i32) >> I.full((1,), 32, I.i32), I.f32)"),
    ("INT215", "z[0] = I.cast(n // 0, I.f32)"),
    ("INT215", "z[0] = I.cast(n % (4 - 4), I.f32)"),
    ("INT215", "z[0] = I.cast(n // I.cast(0, I.i32), I.f32)"),
    ("INT215", "z[:] = I.cast(I.cast(x[:], I.i32) % I.full((1,), 0, I.i32), I.f32)"),
    ("INT215", "z[0] = I.cast(x.shape[0] // 0, I.f32)"),
    ("INT215", "v = n\nv //= 0\nz[0] = I.cast(v, I.f32)"),
    ("INT216", "z[0] = I.cast(n ** -1, I.f32)"),
    ("INT214", "z[0] = I.random.uniform(s, 0, dtype=I.f32)"),
    ("INT214", "z[0] = I.random.uniform(I.cast(1, I.u64), n, dtype=I.f32)"),
    ("INT214", "z[0] = I.random.uniform(1, 0, dtype=I.f16)"),
    ("INT214", "z[0] = I.exp(n)"),
    ("INT214", "I.atomic.and_(z, (0,), s, order='relaxed')"),
    ("INT301", "d = I.domain(0, 4)\ne = d + 1"),
    ("INT303", "d = I.domain(0, 4, 0)\nz[d] = s"),
    ("INT303", "d = I.domain(0, 4, n)\nz[d] = s"),
    ("INT303", "for i in range(3, 0, -1):\n    z[i] = s"),
    ("INT306", "d = I.domain(0, 8)[2:10]\nz[d]=s"),
    ("INT306", "d=I.domain(2, 8)[0:4]\nz[d]=s"),
    ("INT310", "I.assume_in_bounds(at[0], x[:], axis=0)"),
    ("INT407", "z[0] = I.reduce.sum(m[:, :], axis=(0, 0))"),
    ("INT407", "z[0] = I.reduce.sum(m[:, :], axis=(0, -2))"),
    ("INT407", "I.assume_in_bounds(at[0], x, axis=1)"),
    ("INT413", "v = (s, n)\nz[0] = v[n]"),
    ("INT414", "z[0] = I.cast('a', I.f32)"),
    ("INT414", "v = I.record(a=s)\nz[0] = v"),
    ("INT415", "z[0] = I.reduce.sum(s, axis=0)"),
    ("INT415", "v = I.reshape(s, (1,))"),
    ("INT415", "z[0] = I.join(s, s)"),
    ("INT501", "z[:] = m[at[:], :, at[:]]"),
    ("INT501", "z[:] = m[0, :, :]"),
    ("INT501", "z[0] = r0[0]"),
    ("INT502", "z[0] = x[s]"),
    ("INT502", "z[0] = x[f]"),
    ("INT502", "z[:] = x[g[:]]"),
    ("INT503", "z[0] = four[4]"),
    ("INT503", "z[0] = four[-5]"),
    ("INT505", "z[:, None] = s"),
    ("INT506", "x[0] = s"),
    ("INT506", "x[:] += 1.0"),
    ("INT506", "I.atomic.add(x, (0,), s, order='relaxed')"),
    ("INT507", "v = x[:]\nv[0] = s"),
    ("INT508", "t = y[0]\nz[0] = t"),
    ("INT509", "z[:] = m[:, :]"),
    ("INT509", "z[:] = I.reshape(x[:], (x.shape[0], 1))"),
    ("INT510", "z[0] = r0"),
    ("INT510", "v = I.buffer((4,), I.f32)\nz[0] = v + s"),
    ("INT512", "z[:] = I.gather(x, index=(at[:],), valid=g[:], fill=n)"),
    ("INT512", "z[0] = I.gather(x, index=(n,), valid=g[:])"),
    ("INT513", "k = I.atomic.add(z, index=(0,), value=s, order='seq_cst')"),
    ("INT513", "I.atomic.store(z, (0,), s, order='acquire')"),
    ("INT514", "I.scatter_reduce(z, (at[:],), x[:], combine=I.select)"),
    ("INT517", "I.store(z, (0,), s, mask=f)"),
    ("INT521", "v = I.buffer((4,), I.f32, init=n)\n"),
    ("INT601", "z[0] = I.reduce.sum(x[:], axis=n)"),
    ("INT605", "z[0] = I.reduce.any(x[:], axis=0)"),
    ("INT701", "z[0] = I.dot(m[:, :], x[:], acc_dtype=I.f32)"),
    ("INT702", "z[0] = I.dot(x[:], h[:], acc_dtype=I.f32)"),
    ("INT703", "z[:] = I.matvec(m[:, :], b[:], acc_dtype=I.f32)"),
    ("INT801", "if g[:]:\n    z[0] = s"),
    ("INT801", "while x[:] > 0.0:\n    break"),
    ("INT803", "if f:\n    v = s\nz[0] = v"),
    ("INT804", "t = I.cast(0.0, I.f32)\nfor i in I.parallel(I.domain(0, x.shape[0])):\n    t = t + x[i]\nz[0]=t"),
    ("INT805", "for i in I.parallel(I.domain(0, x.shape[0])):\n    z[i] = x[i]\n    break"),
    ("INT808", "if f:\n    v = s\nelse:\n    v = n\nz[0] = I.cast(v, I.f32)"),
    ("INT808", "z[0] = s if f else n"),
    ("INT809", "assert n > 0\nz[0]=s"),
)
LEGAL_FILES = (
    ('@intent.kernel\ndef k(x: I.In[I.dtype("f32"), ("N",)], y: I.Out[I.f32, ("N",)]):\n    y[:] = x[:]\n'),
    "@intent.kernel\ndef k(VIEWS, c: I.Constexpr[float] = 2):\n    y[:] = x[:] * c\n",
    ('@intent.kernel\ndef k(x: I.In[I.f32, ("N",)], /, y: I.Out[I.f32, ("N",)]):\n    y[:] = x[:]\n'),
    ('@intent.kernel\ndef k(x: I.In[I.f32, ("N",)], *, y: I.Out[I.f32, ("N",)]):\n    y[:] = x[:]\n'),
    '@intent.kernel\ndef k(VIEWS):\n    "doc"\n    y[:] = x[:]\n',
    (
        "@intent.fn\ndef f(v, c):\n    if c:\n        return v\n    return v + 1.0\n\n"
        "@intent.kernel\ndef k(VIEWS, c: I.bool):\n    y[:] = f(x[:], c)\n"
    ),
    (
        "@intent.fn\ndef f(v, *, by=2.0):\n    return v * by\n\n"
        "@intent.kernel\ndef k(VIEWS):\n    y[:] = f(x[:], by=3.0)\n"
    ),
    ("@intent.fn\ndef f(v):\n    v[0] = 1.0\n\n@intent.kernel\ndef k(VIEWS):\n    f(y)\n    y[:] = x[:]\n"),
    (
        "@intent.fn\ndef f(a, b):\n    return a + b\n\n"
        "@intent.kernel\ndef k(VIEWS):\n    y[:] = I.reduce(x[:], axis=0, identity=0.0, combine=f)\n"
    ),
)
WRONG_FILES = (
    ("INT103", "@intent.kernel\ndef k(VIEWS, *rest):\n    y[:] = x[:]\n"),
    ("INT103", "@intent.kernel\ndef k(VIEWS, **rest):\n    y[:] = x[:]\n"),
    ("INT105", ("@intent.fn\ndef f(v):\n    return f(v)\n\n@intent.kernel\ndef k(VIEWS):\n    y[:] = f(x[:])\n")),
    ("INT106", "@intent.kernel\ndef k(VIEWS):\n    k(x, y)\n"),
    ("INT107", ("@intent.fn\ndef f(v):\n    return y[0]\n\n@intent.kernel\ndef k(VIEWS):\n    y[:] = f(x[:])\n")),
    (
        "INT108",
        (
            "@intent.fn\ndef f(v, *, by=2.0):\n    return v * by\n\n"
            "@intent.kernel\ndef k(VIEWS):\n    y[:] = f(x[:], 3.0)\n"
        ),
    ),
    (
        "INT108",
        (
            "@intent.fn\ndef f(a, b, c):\n    return a + b\n\n"
            "@intent.kernel\ndef k(VIEWS):\n    y[:] = I.reduce(x[:], axis=0, identity=0.0, combine=f)\n"
        ),
    ),
    (
        "INT109",
        (
            "@intent.fn\ndef f(v, c):\n    if c:\n        return v\n    return 1\n\n"
            "@intent.kernel\ndef k(VIEWS, c: I.bool):\n    y[:] = f(x[:], c)\n"
        ),
    ),
    (
        "INT109",
        (
            "@intent.fn\ndef f(v, c):\n    if c:\n        return v\n\n"
            "@intent.kernel\ndef k(VIEWS, c: I.bool):\n    y[:] = f(x[:], c)\n"
        ),
    ),
    ("INT110", "@intent.kernel\ndef k(VIEWS, n: int):\n    y[:] = x[:]\n"),
    ("INT110", "@intent.kernel\ndef k(VIEWS, n):\n    y[:] = x[:]\n"),
    ("INT111", '@intent.kernel\ndef k(x: I.In[I.f32, "N"], y: I.Out[I.f32, ("N",)]):\n    y[:] = x[:]\n'),
    ("INT111", ('@intent.kernel\ndef k(x: I.In[I.f32, ("1",)], y: I.Out[I.f32, ("N",)]):\n    y[:] = x[0]\n')),
    ("INT111", ('@intent.kernel\ndef k(x: I.In[I.f32, (-1,)], y: I.Out[I.f32, ("N",)]):\n    y[:] = x[0]\n')),
    ("INT111", '@intent.kernel\ndef k(x: I.In[I.f32], y: I.Out[I.f32, ("N",)]):\n    y[:] = x[0]\n'),
    (
        "INT112",
        ('@intent.kernel\ndef k(x: I.In[I.f32, ("N",), I.constraints(alias="g", noalias=True)]):\n    pass\n'),
    ),
    (
        "INT112",
        (
            '@intent.kernel\ndef k(x: I.In[I.f32, ("N",), I.constraints(strides=(1, 1))], y: I.Out[I.f32, ("N",)]):\n'
            "    y[:] = x[:]\n"
        ),
    ),
    ("INT114", "@intent.kernel\ndef k(VIEWS, c: I.Constexpr[I.i32] = 3):\n    y[:] = x[:]\n"),
    ("INT114", "@intent.kernel\ndef k(VIEWS, c: I.Constexpr[int] = 1.5):\n    y[:] = x[:]\n"),
    ("INT114", "@intent.kernel\ndef k(VIEWS, c: I.Constexpr[bool] = 1):\n    y[:] = x[:]\n"),
    ("INT119", "@intent.kernel\ndef k(VIEWS):\n    z = [1]\n    y[:] = x[:]\n"),
    ("INT119", "@intent.kernel\ndef k(VIEWS):\n    y[:] = [i for i in x]\n"),
    ("INT119", "@intent.kernel\ndef k(VIEWS):\n    import math\n    y[:] = x[:]\n"),
    ("INT119", ("@intent.kernel\ndef k(VIEWS):\n    try:\n        y[:] = x[:]\n    except E:\n        pass\n")),
    ("INT119", "@intent.kernel\ndef k(VIEWS):\n    y[:] = x[:]; y.shape = 3\n"),
    ("INT119", "@intent.kernel\ndef k(VIEWS):\n    global q\n    y[:] = x[:]\n"),
    ("INT119", "@intent.kernel\ndef k(VIEWS):\n    I.parallel(I.domain(0, 3))\n    y[:]=x[:]\n"),
    ("INT121", "@intent.kernel\ndef k(VIEWS, s: I.f32 = 1.0):\n    y[:] = x[:] * s\n"),
    ("INT123", ("@intent.kernel\ndef k(VIEWS):\n    for i, j in I.parallel(I.domain(0, 3)):\n        y[i] = x[j]\n")),
    (
        "INT201",
        ("@intent.kernel\ndef k(VIEWS):\n    t = 0.0\n    for i in range(3):\n        t = t + x[i]\n    y[:] = t\n"),
    ),
    (
        "INT204",
        (
            "@intent.kernel\ndef k(VIEWS):\n"
            "    y[:] = I.gather(x, index=(I.indices(I.domain(0, x.shape[0])),), fill=False)\n"
        ),
    ),
    ("INT206", ('@intent.kernel\ndef k(x: I.In["float32", ("N",)], y: I.Out[I.f32, ("N",)]):\n    y[:] = x[:]\n')),
    (
        "INT206",
        ('@intent.kernel\ndef k(x: I.In[I.dtype("float32"), ("N",)], y: I.Out[I.f32, ("N",)]):\n    y[:] = x[:]\n'),
    ),
    (
        "INT501",
        (
            "@intent.kernel\ndef k(VIEWS):\n"
            "    for i in I.parallel((I.domain(0, 3), I.domain(0, 3))):\n        y[i] = x[i]\n"
        ),
    ),
    (
        "INT507",
        (
            "@intent.fn\ndef f(a, b):\n    a[0] = 1.0\n    return a\n\n"
            "@intent.kernel\ndef k(VIEWS):\n    y[:] = I.reduce(x[:], axis=0, identity=0.0, combine=f)\n"
        ),
    ),
    (
        "INT509",
        ("@intent.kernel\ndef k(VIEWS):\n    a = I.indices(I.domain(0, 3))\n    y[a] = x[I.indices(I.domain(0, 4))]\n"),
    ),
    (
        "INT602",
        (
            "@intent.fn\ndef f(a, b):\n    return a + b\n\n"
            "@intent.kernel\ndef k(VIEWS, n: I.i32):\n    y[:] = I.reduce(x[:], axis=0, identity=n, combine=f)\n"
        ),
    ),
    (
        "INT603",
        (
            "@intent.fn\ndef f(a, b):\n    return a > b\n\n"
            "@intent.kernel\ndef k(VIEWS):\n    y[:] = I.reduce(x[:], axis=0, identity=0.0, combine=f)\n"
        ),
    ),
    (
        "INT802",
        (
            "@intent.kernel\ndef k(VIEWS):\n"
            "    best = 0\n    for i in range(3):\n        best = i\n    y[:] = I.cast(best, I.f32)\n"
        ),
    ),
    (
        "INT802",
        ("@intent.kernel\ndef k(VIEWS):\n    t = x[0:1]\n    for i in range(3):\n        t = t + x[:]\n    y[:] = t\n"),
    ),
    ("INT807", ("@intent.kernel\ndef k(VIEWS):\n    for i in I.parallel(I.domain(0, 3)):\n        return\n")),
)


def _kernel(body: str) -> str:
    return f"{MODULE}@intent.kernel\ndef k({PARAMETERS}):\n{indent(body, '    ')}\n"


@pytest.mark.parametrize("text", [*map(_kernel, LEGAL_BODIES), *LEGAL_FILES])
def test_what_is_legal_compiles(text: str) -> None:
    found = compile_text(HEADER + text.replace("VIEWS", VIEWS), "k.py")
    problems = [(each.code, each.message) for each in found.diagnostics if each.severity != "note"]
    assert not problems and found.source is not None


@pytest.mark.parametrize(("code", "text"), [*((code, _kernel(body)) for code, body in WRONG_BODIES), *WRONG_FILES])
def test_what_breaks_a_rule_is_an_error(code: str, text: str) -> None:
    found = compile_text(HEADER + text.replace("VIEWS", VIEWS), "k.py")
    assert {each.code for each in found.diagnostics if each.severity != "note"} == {code}
    assert found.source is None
