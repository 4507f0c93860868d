#!/usr/bin/python3
"""Writes values and gradients of ops and of layers, computed by PyTorch (Debian: python3-torch).

    tools/make_golden.py ops > tests/golden/ops.json
    tools/make_golden.py layers > tests/golden/layers.json
    tools/make_golden.py models > tests/golden/models.json

A case is {op, inputs, attributes, outputs, cotangents, gradients}; a tensor is {shape, values}, values in row-major order
and f64. The gradients are those of sum over outputs of <cotangent, output>, one for each input. Ids are attributes.
Cases of layers have also {parameters, parameter_gradients} by name. Dropout is 0.
"""

import json
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

torch.set_default_dtype(torch.float64)
generator = torch.Generator().manual_seed(20)
cases = []
decimals = None  # of what PyTorch answers; all, unless a number is given


def draw(*shape, low=-2.0, high=2.0):
    """Three decimals: the file stays small, and inputs can be read."""
    return (1000 * (low + (high - low) * torch.rand(shape, generator=generator))).round() / 1000


def tensor(t):
    values = t.reshape(-1).tolist()
    return {"shape": list(t.shape), "values": values if decimals is None else [round(v, decimals) for v in values]}


def ids(t):
    return {"shape": list(t.shape), "values": t.reshape(-1).tolist()}


def case(op, function, *inputs, module=None, **attributes):
    """Records function(*inputs), which is what our `op` with these attributes must give; `module` has the parameters."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    parameters = dict(module.named_parameters()) if module else {}
    for p in parameters.values():
        p.data = draw(*p.shape, low=-0.9, high=0.9)
    outputs = function(*inputs)
    outputs = [outputs] if torch.is_tensor(outputs) else list(outputs)
    cotangents = [draw(*y.shape) for y in outputs]
    total = sum((c * y).sum() for c, y in zip(cotangents, outputs))
    gradients = torch.autograd.grad(total, inputs + list(parameters.values()))
    entry = {
        "op": op,
        "inputs": [tensor(x.detach()) for x in inputs],
        "attributes": attributes,
        "outputs": [tensor(y.detach()) for y in outputs],
        "cotangents": [tensor(c) for c in cotangents],
        "gradients": [tensor(g) for g in gradients[: len(inputs)]],
    }
    if module:
        entry["parameters"] = {name: tensor(p.detach()) for name, p in parameters.items()}
        entry["parameter_gradients"] = {
            name: tensor(g) for name, g in zip(parameters, gradients[len(inputs) :])
        }
    cases.append(entry)


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


def convolutions():
    for kernel, dilation, causal in ((3, 1, False), (4, 1, False), (5, 2, False), (3, 1, True), (2, 3, True)):
        def convolve(x, weight, bias):
            x = x.transpose(1, 2)
            if causal:
                return F.conv1d(F.pad(x, ((kernel - 1) * dilation, 0)), weight, bias, dilation=dilation).transpose(1, 2)
            return F.conv1d(x, weight, bias, padding="same", dilation=dilation).transpose(1, 2)

        case("conv1d", convolve, draw(2, 6, 3), draw(4, 3, kernel), draw(4), dilation=dilation, causal=causal)


def hidden_keys(lengths, keys):
    """Where the padding is, [B,keys]: true is hidden, as PyTorch has it."""
    return torch.arange(keys)[None] >= lengths[:, None]


def causal(steps):
    return torch.ones(steps, steps, dtype=torch.bool).triu(1)


def recurrent(op, layer):
    lengths = torch.tensor([2, 4, 1])
    layer = layer(2, 3, batch_first=True, bidirectional=True)

    def run(x):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, final = layer(packed)
        y = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=4)[0]
        return (y, final) if torch.is_tensor(final) else (y, *final)

    case(op, run, draw(3, 4, 2), module=layer, hidden=3, lengths=ids(lengths))


def gated():
    recurrent("gru", nn.GRU)


def other_cells():
    recurrent("rnn", nn.RNN)
    recurrent("lstm", nn.LSTM)


def attentions():
    lengths = torch.tensor([4, 2])
    hidden = hidden_keys(lengths, 4)
    additive = nn.ModuleDict({"W_k": nn.Linear(3, 6, False), "W_q": nn.Linear(2, 6, False), "w_v": nn.Linear(6, 1, False)})

    def attend(q, k, v):
        scores = additive["w_v"]((additive["W_q"](q)[:, :, None] + additive["W_k"](k)[:, None]).tanh()).squeeze(-1)
        weights = scores.masked_fill(hidden[:, None], -math.inf).softmax(-1)
        return weights @ v, weights

    case("additive_attention", attend, draw(2, 3, 2), draw(2, 4, 3), draw(2, 4, 5), module=additive, hidden=6,
         lengths=ids(lengths))
    heads = nn.MultiheadAttention(6, 3, batch_first=True)
    case("self_attention", lambda x: heads(x, x, x, key_padding_mask=hidden, attn_mask=causal(4),
                                           average_attn_weights=False),
         draw(2, 4, 6), module=heads, heads=3, lengths=ids(lengths))
    cross = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, bias=False, batch_first=True)
    case("cross_attention", lambda q, k, v: cross(q, k, v, key_padding_mask=hidden, average_attn_weights=False),
         draw(2, 3, 4), draw(2, 4, 3), draw(2, 4, 5), module=cross, heads=2, lengths=ids(lengths))


def norms_and_losses():
    norm = nn.LayerNorm(5)
    case("layer_norm", norm, draw(2, 3, 5), module=norm)
    targets = torch.tensor([2, 0, 4, 1, 0])
    weights = draw(6, low=0.2, high=2)
    for reduction, smoothing, weighted in (("mean", 0.0, False), ("mean", 0.1, False), ("sum", 0.1, False),
                                           ("none", 0.1, True), ("mean", 0.3, True)):
        case("cross_entropy",
             lambda x: F.cross_entropy(x, targets, weights if weighted else None, ignore_index=0, reduction=reduction,
                                       label_smoothing=smoothing),
             draw(5, 6), targets=ids(targets), ignore_index=0, reduction=reduction, label_smoothing=smoothing,
             **({"class_weights": tensor(weights)} if weighted else {}))


def transformers():
    source, target = torch.tensor([4, 2]), torch.tensor([3, 3])
    for pre_norm, activation in ((False, "relu"), (True, "gelu")):
        sizes = {"d_model": 4, "nhead": 2, "dim_feedforward": 6, "dropout": 0.0, "batch_first": True}
        attributes = {"heads": 2, "feed_forward": 6, "pre_norm": pre_norm, "gelu": activation == "gelu",
                      "lengths": ids(source)}
        encoder = nn.TransformerEncoderLayer(**sizes, activation=activation, norm_first=pre_norm)
        case("encoder_layer", lambda x: encoder(x, src_key_padding_mask=hidden_keys(source, 4)), draw(2, 4, 4),
             module=encoder, **attributes)
        decoder = nn.TransformerDecoderLayer(**sizes, activation=activation, norm_first=pre_norm)
        case("decoder_layer",
             lambda y, x: decoder(y, x, tgt_mask=causal(3), memory_key_padding_mask=hidden_keys(source, 4)),
             draw(2, 3, 4), draw(2, 4, 4), module=decoder, **attributes)


class Translator(nn.Module):
    """torch.nn.Transformer, whose norms after both stacks are always there, between embeddings and an output layer."""

    def __init__(self, pre_norm):
        super().__init__()
        self.src_embed, self.tgt_embed = nn.Embedding(7, 4), nn.Embedding(8, 4)
        self.transformer = nn.Transformer(4, 2, 2, 2, 6, 0.0, batch_first=True, norm_first=pre_norm)
        self.out = nn.Linear(4, 8)

    def forward(self, source, inputs):
        def embed(table, tokens):
            angles = torch.arange(tokens.shape[1])[:, None] / 10000 ** (torch.arange(0, 4, 2) / 4)
            positions = torch.stack([angles.sin(), angles.cos()], -1).reshape(-1, 4)
            return table(tokens) * math.sqrt(4) + positions

        hidden = source == 1
        return self.out(self.transformer(embed(self.src_embed, source), embed(self.tgt_embed, inputs),
                                         tgt_mask=causal(inputs.shape[1]), src_key_padding_mask=hidden,
                                         memory_key_padding_mask=hidden))


def translators():
    source = torch.tensor([[4, 5, 6, 3], [6, 3, 1, 1]])
    target = torch.tensor([[7, 3, 1], [5, 4, 3]])
    inputs = torch.tensor([[2, 7, 3], [2, 5, 4]])
    model = Translator(False)
    case("translator", lambda: F.cross_entropy(model(source, inputs).reshape(-1, 8), target.reshape(-1), ignore_index=1,
                                               label_smoothing=0.1),
         module=model, source=ids(source), target=ids(target), label_smoothing=0.1)


def optimizers():
    start, given = draw(5), [draw(5) for _ in range(6)]
    given[2] = given[2] * 1e-6
    w = start.clone().requires_grad_()
    adam = torch.optim.Adam([w], lr=1, betas=(0.9, 0.98), eps=1e-9)
    rate = torch.optim.lr_scheduler.LambdaLR(
        adam, lambda s: 2 * 16**-0.5 * min((s + 1) ** -0.5, (s + 1) * 3**-1.5))
    trajectory = []
    for gradient in given:
        w.grad = gradient.clone()
        adam.step()
        rate.step()
        trajectory.append(w.detach().clone())
    cases.append({"op": "adam_noam", "attributes": {"width": 16, "factor": 2.0, "warmup": 3}, "start": tensor(start),
                  "given": tensor(torch.stack(given)), "trajectory": tensor(torch.stack(trajectory))})


def scores():
    lengths = torch.tensor([4, 2])
    hidden = hidden_keys(lengths, 4)[:, None]

    def pooling(score, module, function, key=3):
        def attend(q, k, v, normaliser):
            fit = function(q, k)
            if normaliser == "softmax":
                weights = fit.masked_fill(hidden, -math.inf).softmax(-1)
            else:
                weights = F.relu(fit).masked_fill(hidden, 0) / lengths[:, None, None]
            return weights @ v, weights

        for normaliser in ("softmax", "relu")[: 1 if score == "gaussian" else 2]:
            case("pooling", lambda q, k, v: attend(q, k, v, normaliser), draw(2, 3, 3), draw(2, 4, key), draw(2, 4, 5),
                 module=module, score=score, normaliser=normaliser, hidden=6, lengths=ids(lengths))

    def mlp(**more):
        return nn.ModuleDict({"W_k": nn.Linear(2, 6, bool(more)), "W_q": nn.Linear(3, 6, False), **more,
                              "w_v": nn.Linear(6, 1, False)})

    def first_layer(net, q, k):
        return (net["W_q"](q)[:, :, None] + net["W_k"](k)[:, None]).tanh()

    additive, network = mlp(), mlp(W_h=nn.Linear(6, 6))
    pooling("additive", additive, lambda q, k: additive["w_v"](first_layer(additive, q, k)).squeeze(-1), key=2)
    pooling("network", network, lambda q, k: network["w_v"](network["W_h"](first_layer(network, q, k)).tanh()).squeeze(-1),
            key=2)
    general = nn.ModuleDict({"W_k": nn.Linear(2, 3, False)})
    pooling("general", general, lambda q, k: F.bilinear(
        q[:, :, None].expand(-1, -1, 4, -1).contiguous(), k[:, None].expand(-1, 3, -1, -1).contiguous(),
        general["W_k"].weight[None]).squeeze(-1), key=2)
    pooling("dot", None, lambda q, k: torch.einsum("bqd,bkd->bqk", q, k))
    pooling("scaled-dot", None, lambda q, k: torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(3))
    pooling("cosine", None, lambda q, k: F.cosine_similarity(q[:, :, None], k[:, None], dim=-1))
    width = nn.ParameterDict({"w": nn.Parameter(torch.ones(1))})
    pooling("gaussian", width, lambda q, k: -((torch.cdist(q, k) * width["w"]) ** 2) / 2)


def copying():
    """A mixture of a softmax and of attention scattered onto the source's words, and the loss of a batch of it."""
    words = torch.tensor([[2, 5, 4, 6], [5, 5, 3, 1]])

    def distribution(logits, gate, attention, words=words, unknown=2):
        p_gen = gate.sigmoid()
        generated = F.pad(p_gen * logits.softmax(-1), (0, unknown))
        return generated.scatter_add(-1, words, (1 - p_gen) * attention)

    case("copy_distribution", distribution, draw(2, 5), draw(2, 1), draw(2, 4, low=0, high=0.25), words=ids(words),
         unknown=2)
    targets = torch.tensor([[6, 2, 3], [5, 0, 1]])

    def nll(logits, gate, attention):
        p = distribution(logits, gate, attention, words[:, None, :].expand(2, 3, 4))
        return F.nll_loss(p.log().reshape(-1, 7), targets.reshape(-1), reduction="none").reshape(2, 3)

    case("copy_nll", nll, draw(2, 3, 5), draw(2, 3, 1), draw(2, 3, 4, low=0, high=0.25), words=ids(words),
         targets=ids(targets))


if sys.argv[1:] == ["models"]:
    sections = (copying,)
elif sys.argv[1:] == ["layers"]:
    decimals = 10
    sections = (gated, attentions, norms_and_losses, transformers, translators, optimizers, scores, other_cells)
elif sys.argv[1:] == ["ops"]:
    sections = (elementwise, reductions, products, rearrangements, softmaxes, convolutions)
else:
    sys.exit("make_golden: the argument must be ops, layers or models")
for section in sections:
    section()
source = f"PyTorch {torch.__version__}, tools/make_golden.py"
body = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in cases)
sys.stdout.write(f'{{"source":"{source}","cases":[\n{body}\n]}}\n')
