"""Every number that steers the automatic choice, and why it is what it is."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """The thresholds of the automatic choice, in the order in which it meets them.

    docs/notes/automatic-choice.md and docs/notes/real-tables.md tell what else was tried.
    """

    # Folds, blocks and copies
    few_rows: int = 200  # with fewer rows (or groups of rows) one round of folds says little,
    n_rounds: int = 3  # so every row is held out this many times
    n_blocks: int = 4  # parts of each fold's held-out rows: standard errors of the gain come from them
    copy: float = 0.99  # the correlation, in size, from which a column is a copy of another
    most_compared: float = 1e12  # multiplications and additions that finding copies may take

    # The bank of scores
    most_ranked: float = 5e7  # numbers in the columns whose ranks are kept, for their memory
    pair_level: float = 0.01  # how often the strongest of all pairs of noise passes
    pair_reach: float = 1.0  # pairs are asked where the root of the rows is so many times the z they need
    n_pairs_asked: int = 50  # whose columns' own curves are taken into account
    n_pairs: int = 6  # the strongest of these are looked at
    most_work: float = 4e12  # multiplications and additions of pairs; permutations may take an eighth
    most_work_gpu: float = 1e15  # and on a GPU

    # The path of penalties, all per gate
    largest_lam: float = 0.06  # most gates of most problems are closed here
    lam_ratio: float = 60 ** (1 / 7)  # from one penalty to the next: six of them from 0.06 to 0.0033
    smallest_lam: float = 0.0033  # or log(n) / 2n where that is less: what BIC asks of a feature
    most_open: float = 0.5  # while more than this share of the free gates stays open to the end,
    larger: float = 1.8  # a penalty this many times the largest is added: a gain may outweigh the largest,
    n_larger: int = 4  # and so many of them at most

    # Which networks go on after their path
    rival: float = 0.3  # those that gain this share of what the best one gains over no feature;
    clear_gain: float = 0.02  # all do while no gain exceeds this share of the base rate's loss

    # What a network is offered that is too costly with all features
    fewest_offered: int = 12  # features that tell most by themselves,
    offered_per_row: float = 4.0  # or so many per row, up to half of what the network takes,
    encoded_per_row: float = 0.1  # and fewer if it is encoded, whose columns are many

    # Survivors and refits
    n_survivors: int = 3  # penalties, the best ones, whose features are trained once more
    harder: tuple[float, ...] = (2.0, 4.0)  # under so many times their penalty
    always_few: int = 50  # sets up to this size are small whatever the number of rows;
    rows_per_survivor: int = 8  # otherwise survivors need so many rows per feature,
    rows_per_refitted: int = 2  # and refits so many: larger sets are memorised
    worth_refitting: float = 1.1  # a refit may mend a loss up to this multiple of the base rate's
    agreed: float = 0.5  # overlap of the folds' sets with their vote (Jaccard) at which they are one set
    unsettled: float = 1.25  # a set may be so many times the one at the last step: gates still close

    # Rows that a step sees, and rows that judge
    rows_seen_whole: int = 560  # of fewer rows to learn from gates see all at every step:
    rows_per_gated_step: int = 190  # of more this many serve as well, since the gates' noise is far larger
    rows_per_refit_step: int = 190  # models whose gates are held open, which have no such noise
    rows_per_final_step: int = 1000  # the final model, and models whose residuals are looked at
    rows_of_linear: int = 8000  # a linear model that is judged learns from so many, the same at each step
    most_parts: int = 8  # parts of the rows that are kept apart; more are gathered as mini-batches
    streamed_steps: int = 1000  # of a stream: steps see so many rows that these see all of them once,
    most_streamed: int = 8192  # but not more than this: then there are more steps,
    most_streamed_numbers: int = 1 << 24  # nor more than so many numbers, for their memory
    most_judging: int = 5000  # rows: losses differ by far more between folds than by the luck of so many,
    fewest_judging: int = 50  # but of every class in every fold at least these

    # How refits are trained and judged
    shrinks: tuple[float, ...] = (0.03, 0.1, 0.2, 0.35, 0.6, 0.8, 1.0)  # a network of few rows is too sure
    refit_steps: tuple[int, int] = (2, 3)  # two of three steps: without the gates' noise fewer suffice
    refit_snapshots: int = 20  # from which the best step is chosen
    refit_patience: int = 6  # snapshots without a lower loss that end a refit: it would go on to memorise

    # Growing penalty: sets of every size
    growing_from: float = 1e-5  # penalty per gate at the first step, under which no gate closes,
    growing_to: float = 0.3  # and at the last one, under which nearly all have
    growing_longer: float = 1.5  # times the steps of other models, so that gates close one by one
    growing_snapshots: int = 60  # to tell when each gate closes
    n_growing: int = 4  # models averaged: in a single one the order of correlated columns is luck;
    equal: float = 0.9  # one is enough where the folds' sets overlap their vote by this,
    few_open: float = 0.5  # with at most this share of the gates open: of most gates open it says nothing
    many_gates: int = 100  # of more gates than this no set holds more than
    most_share: float = 0.4  # this share,
    most_gates: int = 1000  # or this number: beyond it is hardly a selection;
    most_of_few_rows: int = 50  # nor is one of more than there are rows, or than this
    size_ratio: float = 1.5  # from one size to the next,
    n_between: int = 4  # and so many more between the best one and the next smaller,
    most_between: int = 32  # of few features: among large sizes the best of many is luck
    pauses: tuple[int, ...] = (12, 60, 300)  # sizes after which larger ones are tried only if they may gain

    # Backward elimination
    elimination_ridge: float = 1.0  # per row: the loss of a few rows would else vanish with many columns
    drop_share: float = 0.2  # of the columns left that are dropped at a time,
    drop_single: int = 60  # one by one from here on
    eliminated: int = 2_000_000  # numbers in the rows that decide, for the time it takes,
    fewest_eliminating: int = 500  # but so many rows at least,
    most_eliminating: int = 5000  # and at most

    # Teams
    n_judging: int = 4  # networks in the team that judges a set, for their cost
    n_team_sets: int = 8  # sets that teams judge, for their cost
    team_errors: float = 2.0  # they are within so many standard errors of the best
    team_on_all: int = 100  # up to so many gates a team judges all columns; beyond, one model, for its cost

    # Is there a signal?
    clear_level: float = 0.005  # p up to which a signal is clear
    rarely: float = 100.0  # p-values that are no exact ones count so many times
    least_error: float = 1 / 3  # a standard error is at least this share of what a feature is worth
    n_permutations: tuple[int, int] = (199, 999)  # fewest and most: p-values down to 0.005, or 0.001
    most_dealt: float = 2e7  # numbers in the scores of some permutations at once, for their memory
    fewest_alike: int = 8  # groups of rows among which residuals are dealt, as their sizes allow

    # Which set?
    shared_rows: float = 1.5  # times a standard error over folds, which share the rows they learn from
    most_given: float = 0.0125  # share of the gain that a tie gives away at most,
    negligible: float = 0.0025  # and share that counts for nothing, however sure
    tolerance: float = 0.01  # share of the gain within which penalties tie on halves of the rows

    # The second look
    look_level: float = 0.01  # the chance that a look adds anything when there is nothing left
    n_looks: int = 3  # a feature may show only once another is in
    little_errors: float = 2.0  # what gains less than so many standard errors may be luck: look without it
    fewest_rows_of_curves: int = 100  # with fewer rows only lines are asked for
    most_known: float = 0.25  # curves of selected columns that residuals are freed of, per row

    # The final model
    n_final: int = 16  # networks in the final team,
    one_beyond: int = 1000  # but a single one on more gates than this, for its cost

    # Numbers
    diverged: float = 1e100  # a loss from here on counts as infinite: its square would overflow


DEFAULTS = Defaults()
