"""Likeliest path through a hidden Markov model: scores forwards, best predecessors kept, then the path backwards."""

import intent
import intent.language as I

STATES = 4

CASES = [
    {"B": 3, "T": 7},
    {"B": 4, "T": 8},
    {"B": 1, "T": 1},
    {"B": 0, "T": 3},
]
LARGE = [{"B": 67, "T": 37}]


@intent.kernel
def viterbi(
    emission: I.In[I.f32, ("B", "T", STATES)],
    transition: I.In[I.f32, (STATES, STATES)],
    path: I.Out[I.i32, ("B", "T")],
    score: I.Out[I.f32, ("B",)],
):
    B, T, _ = emission.shape
    for b in I.parallel(I.domain(0, B)):
        best = I.buffer((STATES,), I.f32)
        other = I.buffer((STATES,), I.f32)
        back = I.buffer((T, STATES), I.i32, init=0)
        for s in range(STATES):
            best[s] = emission[b, 0, s]
        for t in range(1, T):
            for s in range(STATES):
                top = best[0] + transition[0, s]
                place = I.cast(0, I.i32)
                for q in range(1, STATES):
                    through = best[q] + transition[q, s]
                    if through > top:
                        top = through
                        place = I.cast(q, I.i32)
                other[s] = top + emission[b, t, s]
                back[t, s] = place
            for s in range(STATES):
                best[s] = other[s]
        top = best[0]
        state = I.cast(0, I.i32)
        for s in range(1, STATES):
            if best[s] > top:
                top = best[s]
                state = I.cast(s, I.i32)
        score[b] = top
        for step in range(T):
            t = T - 1 - step
            path[b, t] = state
            state = back[t, state]


FINITE = ["emission", "transition"]


def reference(emission, transition):
    import numpy as np

    B, T, _ = emission.shape
    path, score = np.zeros((B, T), np.int32), np.zeros(B, np.float32)
    for b in range(B):
        best, back = emission[b, 0], []
        for t in range(1, T):
            through = best[:, None] + transition
            back.append(np.argmax(through, axis=0))
            best = np.max(through, axis=0) + emission[b, t]
        state = int(np.argmax(best))
        score[b] = best[state]
        for t in range(T - 1, -1, -1):
            path[b, t] = state
            state = back[t - 1][state] if t else state
    return path, score
