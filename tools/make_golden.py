#!/usr/bin/python3
"""Writes tests/golden/ops.json: values and gradients of ops, computed by PyTorch (Debian: python3-torch).

    tools/make_golden.py > tests/golden/ops.json

A case is {op, inputs, attributes, outputs, cotangents, gradients}; a tensor is {shape, values}, values in row-major order
and f64. The gradients are those of sum over outputs of <cotangent, output>, one for each input. Ids are attributes.
"""

import json
import math
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
generator = torch.Generator().manual_seed(20)
cases = []


def draw(*shape, low=-2.0, high=2.0):
    """Three decimals: the file stays small, and inputs can be read."""
    return (1000 * (low + (high - low) * torch.rand(shape, generator=generator))).round() / 1000


def tensor(t):
    return {"shape": list(t.shape), "values": [float(f"{v:.17g}") for v in t.reshape(-1).tolist()]}


def ids(t):
    return {"shape": list(t.shape), "values": t.reshape(-1).tolist()}


def case(op, function, *inputs, **attributes):
    """Records function(*inputs), which is what our `op` with these attributes must give."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    outputs = function(*inputs)
    outputs = [outputs] if torch.is_tensor(outputs) else list(outputs)
    cotangents = [draw(*y.shape) for y in outputs]
    total = sum((c * y).sum() for c, y in zip(cotangents, outputs))
    gradients = torch.autograd.grad(total, inputs)
    cases.append(
        {
            "op": op,
            "inputs": [tensor(x.detach()) for x in inputs],
            "attributes": attributes,
            "outputs": [tensor(y.detach()) for y in outputs],
            "cotangents": [tensor(c) for c in cotangents],
            "gradients": [tensor(g) for g in gradients],
        }
    )


def elementwise():
    x = torch.cat([draw(5), torch.tensor([-30.0, -0.3, 0.4, 25.0])])  # the far ends as well
    for op, function in {
        "neg": torch.neg, "square": torch.square, "abs": torch.abs, "erf": torch.erf, "sin": torch.sin,
        "cos": torch.cos, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu, "gelu": F.gelu,
        "silu": F.silu, "exp": torch.exp,
    }.items():
        case(op, function, x)
    case("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), x)
    case("softplus", lambda x: F.softplus(x, threshold=1000), x)  # PyTorch's own becomes x beyond 20
    case("leaky_relu", lambda x: F.leaky_relu(x, 0.2), x, slope=0.2)
    case("clamp", lambda x: x.clamp(-0.5, 1), x, low=-0.5, high=1.0)
    positive = draw(2, 3, low=0.1, high=3)
    for op, function in {"log": torch.log, "sqrt": torch.sqrt, "reciprocal": torch.reciprocal}.items():
        case(op, function, positive)
    for exponent in (-1.5, 0.5, 3.0):
        case("pow_number", lambda x: x**exponent, positive, exponent=exponent)
    case("pow_number", lambda x: x**0, torch.tensor([0.0, 1.5]), exponent=0.0)
    for op in ("add", "sub", "mul", "div", "maximum", "minimum", "pow"):
        low = 0.5 if op in ("div", "pow") else -2
        case(op, getattr(torch, op), draw(2, 1, 3, low=low), draw(4, 1, low=low))
    tie = torch.tensor([1.0, 2.0, 3.0])
    case("maximum", torch.maximum, tie, torch.tensor([1.0, 3.0, 2.0]))
    case("minimum", torch.minimum, tie, torch.tensor([1.0, 3.0, 2.0]))
    condition = torch.tensor([[1, 0, 1], [0, 0, 1]])
    case("where", lambda a, b: torch.where(condition.bool(), a, b), draw(2, 3), draw(2, 3), condition=ids(condition))
    mask = torch.tensor([0, 1, 0])
    case("masked_fill", lambda x: x.masked_fill(mask.bool(), -1e9), draw(2, 3), mask=ids(mask), value=-1e9)


def reductions():
    for axes, keepdims in (([0, 1, 2], False), ([-1], False), ([0], True), ([1], False), ([0, 2], True)):
        attributes = {"axes": axes, "keepdims": keepdims}
        x = draw(2, 3, 4)
        case("sum", lambda x: x.sum(axes, keepdims), x, **attributes)
        case("mean", lambda x: x.mean(axes, keepdims), x, **attributes)
        case("max", lambda x: x.amax(axes, keepdims), x, **attributes)
        case("min", lambda x: x.amin(axes, keepdims), x, **attributes)
        case("logsumexp", lambda x: x.logsumexp(axes, keepdims), x, **attributes)
        for unbiased in (True, False):
            case("variance", lambda x: x.var(axes, unbiased, keepdims), x, unbiased=unbiased, **attributes)
    ties = torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    case("max", lambda x: x.amax([1]), ties, axes=[1], keepdims=False)
    case("min", lambda x: x.amin([1]), ties, axes=[1], keepdims=False)


def products():
    for a, b in (([2, 3], [3, 4]), ([5, 2, 3], [3, 4]), ([2, 3], [5, 3, 4]), ([5, 1, 2, 3], [2, 3, 4]), ([3], [3, 4]),
                 ([3], [5, 3, 4]), ([5, 2, 3], [3]), ([3], [3])):
        case("matmul", torch.matmul, draw(*a), draw(*b))
    case("linear", F.linear, draw(2, 5, 3), draw(4, 3), draw(4))


def rearrangements():
    x = draw(2, 3, 4)
    case("permute", lambda x: x.permute(2, 0, 1), x, axes=[2, 0, 1])
    case("transpose", lambda x: x.transpose(0, -1), x, a=0, b=-1)
    case("reshape", lambda x: x.reshape(4, 6), x, shape=[4, 6])
    case("expand", lambda x: x.expand(4, 2, 3), draw(2, 1), shape=[4, 2, 3])
    case("repeat", lambda x: x.repeat(2, 1, 3), x, counts=[2, 1, 3])
    case("flip", lambda x: x.flip(0, 2), x, axes=[0, 2])
    case("roll", lambda x: x.roll(1, 2), x, places=1, axis=2)
    case("pad", lambda x: F.pad(x, (0, 0, 2, 1), value=0.5), x, axis=1, before=2, after=1, value=0.5)
    case("tril", lambda x: x.tril(1), x, diagonal=1)
    case("triu", lambda x: x.triu(1), x, diagonal=1)
    case("concat", lambda a, b: torch.cat([a, b], 1), draw(2, 3, 2), draw(2, 1, 2), axis=1)
    case("stack", lambda a, b: torch.stack([a, b], -1), draw(2, 3), draw(2, 3), axis=-1)
    case("split", lambda x: x.split([1, 3, 2], 1), draw(2, 6), sizes=[1, 3, 2], axis=1)
    case("slice", lambda x: x[:, :, 1:4:2], x, axis=2, begin=1, end=4, step=2)
    case("select", lambda x: x[:, -1], x, axis=1, index=-1)
    rows = torch.tensor([[2, 0, 2], [1, 2, 2]])
    case("embedding", lambda table: F.embedding(rows, table), draw(4, 5), ids=ids(rows))
    case("index_select", lambda x: x.index_select(1, rows[0]), x, axis=1, ids=ids(rows[0]))
    case("gather", lambda x: x.gather(0, rows), draw(4, 3), axis=0, ids=ids(rows))
    case("scatter_add", lambda x, s: x.scatter_add(0, rows, s), draw(4, 3), draw(2, 3), axis=0, ids=ids(rows))


def softmaxes():
    for axis in (0, 1, 2):
        case("softmax", lambda x: x.softmax(axis), draw(2, 3, 4), axis=axis)
        case("log_softmax", lambda x: x.log_softmax(axis), draw(2, 3, 4), axis=axis)
    case("softmax", lambda x: x.softmax(-1), 1e3 * draw(3, 5), axis=-1)
    case("log_softmax", lambda x: x.log_softmax(-1), 1e3 * draw(3, 5), axis=-1)
    lengths = torch.tensor([5, 2, 1])
    hidden = torch.arange(5)[None] >= lengths[:, None]
    case("masked_softmax", lambda x: x.masked_fill(hidden, -math.inf).softmax(-1), draw(3, 5), lengths=ids(lengths))
    hidden = hidden[:, None, None] | (torch.arange(5)[None] > torch.arange(4)[:, None])
    case("masked_softmax", lambda x: x.masked_fill(hidden, -math.inf).softmax(-1), draw(3, 2, 4, 5),
         lengths=ids(lengths), causal=True)


for section in (elementwise, reductions, products, rearrangements, softmaxes):
    section()
source = f"PyTorch {torch.__version__}, tools/make_golden.py"
body = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in cases)
sys.stdout.write(f'{{"source":"{source}","cases":[\n{body}\n]}}\n')
