"""Train path x folds x networks for every task on a GPU; save gates and held-out losses at snapshots."""

import sys, time, json, os, math
import numpy as np, torch
from stochgate.engine import *
from stochgate.gates import GaussianGate
from stochgate.networks import MLP
from stochgate.networks.encoded import EncodedMLP
from stochgate.objectives import *

sys.path.insert(0, os.path.dirname(__file__))
from tasks import tasks

out = sys.argv[1]
seeds = range(int(sys.argv[2]), int(sys.argv[3]))
n_rep = int(sys.argv[4])
names = sys.argv[5:]
LAMS = np.geomspace(0.001, 0.06, 8)
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
NETS = {"linear": MLP(hidden=()), "mlp": MLP(), "enc": EncodedMLP()}


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


res = {}
for name in names or tasks():
    for s in seeds:
        p = tasks()[name](s)
        if p.y.dtype.names:
            obj, kind, strat = Cox(), "cox", p.y["event"]
        elif p.y.dtype.kind == "f":
            obj, kind, strat = Regression(), "reg", p.y
        else:
            obj, kind, strat = Classification(), "clf", p.y
        tgt = obj.encode(p.y)
        from stochgate.objectives import Target

        tgt = Target({k: v.to(dev) for k, v in tgt.rows.items()}, tgt.n_outputs, tgt.facts)
        W = folds(strat, n_rep, 5, s, kind)
        R, L, D = len(W), len(LAMS), p.X.shape[1]
        for net, network in NETS.items():
            X, gate_of = p.X, None
            if net == "enc":
                e = network.encoding(X)
                X = e.transform(X)
                gate_of = torch.tensor(e.feature_of, device=dev)
            X = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)
            des = Design(DenseColumns(torch.tensor(X, dtype=torch.float32, device=dev)), gate_of, D)
            w = torch.tensor(np.repeat(W[None], L, 0).reshape(L * R, -1), dtype=torch.float32, device=dev)
            lam = torch.tensor(np.repeat(LAMS * D, R), dtype=torch.float32)
            seed = torch.tensor(np.tile(np.arange(R), L) + 1000 * s)
            plan = make_plan(
                GaussianGate(),
                network,
                obj,
                Training(n_steps=600, n_snapshots=25),
                lam=lam,
                seed=seed,
                weights=w,
                test_weights=1 - w,
                n_gates=D,
            )
            t = time.time()
            tr = execute(plan, des, tgt, budget=40 << 30)
            mu = tr.gate_path.float().cpu().numpy().reshape(-1, L, R, D)
            key = f"{name}/{s}/{net}"
            res[key + "/loss"] = tr.held_out_loss.cpu().numpy().reshape(-1, L, R)
            res[key + "/train"] = tr.train_loss.cpu().numpy().reshape(-1, L, R)
            res[key + "/open"] = np.packbits(mu > 0, axis=-1)
            print(
                key,
                round(time.time() - t, 1),
                "best",
                float(np.nanmin(res[key + "/loss"].mean(2))),
                flush=True,
            )
np.savez_compressed(out, **res)
