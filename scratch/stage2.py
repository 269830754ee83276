"""Does a second round on a pool of survivors and newcomers, chosen within each fold, find weak features?"""

import sys, time, os
import numpy as np, torch

sys.path.insert(0, os.path.dirname(__file__))
from stochgate.engine import *
from stochgate.gates import GaussianGate
from stochgate.networks import MLP
from stochgate.networks.encoded import EncodedMLP
from stochgate.objectives import *
from tasks import tasks

seeds = eval(sys.argv[1])
names = sys.argv[2:]
LAMS = np.geomspace(0.001, 0.06, 8)
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
NETS = {"linear": MLP(hidden=()), "mlp": MLP(), "enc": EncodedMLP()}


def f1(sel, rel):
    return 2 * (sel & rel).sum() / max(1, sel.sum() + rel.sum())


def folds(y, n_rep, k, seed, kind):
    from sklearn.model_selection import StratifiedKFold, KFold

    W = []
    for r in range(n_rep):
        sp = (KFold if kind == "reg" else StratifiedKFold)(k, shuffle=True, random_state=seed * 100 + r)
        for tr, te in sp.split(np.zeros(len(y)), y):
            w = np.zeros(len(y))
            w[tr] = 1
            W.append(w)
    return np.array(W)


def run(network, des, tgt, obj, W, s, fixed=None, lams=LAMS, **kw):
    R, L, D = len(W), len(lams), des.n_gates
    w = torch.tensor(np.repeat(W[None], L, 0).reshape(L * R, -1), dtype=torch.float32, device=dev)
    lam = torch.tensor(np.repeat(lams * D, R), dtype=torch.float32)
    seed = torch.tensor(np.tile(np.arange(R), L) + 1000 * s)
    if fixed is not None:
        fixed = fixed.repeat(L, 1)
    plan = make_plan(
        GaussianGate(),
        network,
        obj,
        Training(n_steps=600, n_snapshots=25, **kw),
        lam=lam,
        seed=seed,
        weights=w,
        test_weights=1 - w,
        n_gates=D,
        fixed=fixed,
    )
    tr = execute(plan, des, tgt, budget=40 << 30)
    op = (tr.gate_path > 0).reshape(-1, L, R, D)
    if fixed is not None:
        op &= (fixed.to(dev) != 0).reshape(1, L, R, D)
    return tr, tr.held_out_loss.reshape(-1, L, R).cpu().numpy(), op.cpu().numpy()


def report(tag, loss, op, rel):
    m = loss.mean(2)
    i, j = np.unravel_index(np.argmin(m), m.shape)
    freq = op[i, j].mean(0)
    sel = freq >= 0.5
    print(
        f"   {tag:14s} loss {m[i, j]:.4f} t{i} lam {LAMS[j]:.4f} F1 {f1(sel, rel):.2f} n {sel.sum()} freq true {np.round(freq[rel], 1)[:10]} top false {np.round(np.sort(freq[~rel])[::-1][:4], 1)}",
        flush=True,
    )
    return i, j


for name in names:
    for s in seeds:
        p = tasks()[name](s)
        if p.y.dtype.names:
            obj, kind, strat = Cox(), "cox", p.y["event"]
        elif p.y.dtype.kind == "f":
            obj, kind, strat = Regression(), "reg", p.y
        else:
            obj, kind, strat = Classification(), "clf", p.y
        t0 = obj.encode(p.y)
        tgt = Target({k: v.to(dev) for k, v in t0.rows.items()}, t0.n_outputs, t0.facts)
        W = folds(strat, 2, 5, s, kind)
        D = p.X.shape[1]
        R = len(W)
        E = EncodedMLP().encoding(p.X)
        XE = E.transform(p.X)
        XE = (XE - XE.mean(0)) / np.maximum(XE.std(0), 1e-9)
        print(name, s, flush=True)
        first = {}
        for net, network in NETS.items():
            X, gate_of = p.X, None
            if net == "enc":
                X, gate_of = XE, torch.tensor(E.feature_of, device=dev)
            X = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)
            des = Design(DenseColumns(torch.tensor(X, dtype=torch.float32, device=dev)), gate_of, D)
            tr, loss, op = run(network, des, tgt, obj, W, s)
            i, j = report(net, loss, op, p.relevant)
            first[net] = (loss.mean(2).min(), des, tr, loss, op, i, j)
        best = min(first, key=lambda n: first[n][0])
        for net in {best, "mlp"}:
            _, des, tr, loss, op, i, j = first[net]
            out = tr.models.predict(des).requires_grad_()
            l = obj.loss(out, tgt.rows, tr.models.plan.weights, tr.models.learned).sum()
            g = (
                torch.autograd.grad(l, out)[0]
                .reshape(len(LAMS), R, len(W[0]), -1)[j, :, :, 0]
                .cpu()
                .numpy()
            )  # (R, N)
            for K, use_res in ((24, True), (24, False), (8, True)):
                fixed = torch.full((R, D), CLOSED, dtype=torch.int8)
                for r in range(R):
                    pool = set(np.flatnonzero(op[i, j, r])) | set(np.argsort(-op[:, :, r].mean((0, 1)))[:K])
                    if use_res:
                        tr_rows = W[r] > 0
                        gr = g[r][tr_rows]
                        gr = (gr - gr.mean()) / (gr.std() + 1e-12)
                        c = np.abs(gr @ XE[tr_rows]) / tr_rows.sum()
                        sc = np.zeros(D)
                        np.maximum.at(sc, E.feature_of, c)
                        pool |= set(np.argsort(-sc)[:K])
                    fixed[r, list(pool)] = FREE
                _, loss2, op2 = run(NETS[net], des, tgt, obj, W, s, fixed)
                report(f"{net}2 K{K} {'res' if use_res else ''}", loss2, op2, p.relevant)
