"""Learns which launches have similar errors of the timing model, from launches with measured times.

The errors are a Gaussian process over the launches' traits (grader/emulator/timing/measured.py).
`learn` finds the distance per unit of each trait, and the other parameters, that predict the errors
of kernels best when all times of the kernel are left out: the least mean negative logarithm of a
Student t density, which does not try to explain a few large errors.

A row whose error is far from its prediction gets a *doubt*: an additional standard deviation of its
own, so that it does not move its neighbours. Examples are submissions that did other work when they
were timed, and races.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from error_table import Row, calibrate, choose_widths
from jax.flatten_util import ravel_pytree
from scipy.optimize import minimize

from grader.emulator.timing.intervals import width_of
from grader.emulator.timing.measured import Measured, Metric, covary

jax.config.update("jax_enable_x64", True)

ROUNDS, STEPS = 6, 15
"""Rounds, each a search of the parameters and a choice of doubts, and steps of a search."""
CHOICES = 5
"""Choices of doubts per round: the prediction of a row depends on the doubts of its neighbours."""
FREEDOM = 8.0
"""Degrees of freedom of the t density. With two, the predicted deviations are so small that an
interval needs 3.4 of them on each side to contain nine of ten times; with eight, 2.2."""
PRIOR = 1e-3
"""Cost of the logarithm of a trait's scale: traits without influence keep a scale of about 1."""
LEAST_NOISE = 4e-5
"""Least variance of the logarithm of a time (0.6 %): between runs and between GPUs of a type."""
LARGE = 0.7
"""Larger logarithms of errors are doubted at the start."""
BEYOND = 2.0
"""Standard deviations of its prediction beyond which an error is doubted."""

Parameters = dict[str, jax.Array]


def learn(rows: Sequence[Row], kept: Metric | None = None) -> Measured:
    """The corrections that these rows make. Of several launches, only the total time was measured:
    each of them gets the total's error. Only the longest ones determine the parameters. `kept`: a
    metric to keep; then only the doubts and the widths of intervals are chosen."""
    intervals = calibrate(rows)
    others = [replace(row, kind=kind, traits=traits) for row in rows for kind, traits in row.others]
    launches = [*rows, *others]
    errors = np.array([-row.log_error for row in launches])
    traits = np.array([row.traits for row in launches])
    widths = np.array([width_of(row.kind, intervals) for row in launches])
    kernels = [row.kernel for row in launches]
    longest = slice(len(rows))
    left_out = LeftOut(traits[longest], errors[longest], widths[longest], kernels[longest])
    parameters = start_of(traits.shape[1]) if kept is None else parameters_of(kept)
    doubts = np.maximum(0.0, np.abs(errors) - LARGE) ** 2
    for number in range(ROUNDS):
        if kept is None:
            parameters, cost = search(left_out, parameters, doubts[longest])
            print(f"metric, round {number + 1}: cost {cost:.4f}", flush=True)
        doubts[longest] = choose_doubts(left_out, parameters, doubts[longest])
    doubts = choose_doubts(LeftOut(traits, errors, widths, kernels), parameters, doubts)
    metric = kept or Metric(
        np.exp(np.asarray(parameters["scales"])).round(3),
        round(float(jax.nn.sigmoid(parameters["near"])), 3),
        round(float(np.sqrt(noise_of(parameters))), 4),
    )
    kinds = [row.kind for row in launches]
    measured = Measured(
        traits * metric.scales, errors, np.sqrt(doubts), kernels, kinds, intervals, metric
    )
    return replace(measured, metric=replace(metric, widths=choose_widths(rows, measured)))


def start_of(traits: int) -> Parameters:
    """The parameters at the start of a search, for this number of traits."""
    return {
        "scales": jnp.full(traits, 0.5),
        "near": jnp.array(0.0),
        "noise": jnp.array(-8.5),
    }


def parameters_of(metric: Metric) -> Parameters:
    """The parameters of a metric."""
    return {
        "scales": jnp.log(jnp.array(metric.scales)),
        "near": jnp.log(metric.near / (1.0 - metric.near)),
        "noise": jnp.log(max(1e-9, metric.noise**2 - LEAST_NOISE)),  # it is rounded
    }


def choose_doubts(left_out: LeftOut, parameters: Parameters, doubts: np.ndarray) -> np.ndarray:
    """The variances of doubts, from these at the start."""
    for _ in range(CHOICES):
        misses, variances = left_out.predict(parameters, doubts)
        doubts = np.maximum(0.0, np.asarray(misses**2 - BEYOND**2 * variances))
    return doubts


def search(left_out: LeftOut, start: Parameters, doubts: np.ndarray) -> tuple[Parameters, float]:
    """Parameters with a lower cost, and the cost."""
    flat, unflatten = ravel_pytree(start)

    @jax.jit
    def cost(values: jax.Array) -> jax.Array:
        parameters = unflatten(values)
        misses, variances = left_out.predict(parameters, doubts)
        tail = jnp.log1p(misses**2 / variances / FREEDOM)
        density = 0.5 * jnp.log(variances) + 0.5 * (FREEDOM + 1) * tail
        return density.mean() + PRIOR * (parameters["scales"] ** 2).mean()

    found = minimize(
        jax.value_and_grad(cost), flat, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}
    )
    return unflatten(jnp.asarray(found.x)), float(found.fun)


def noise_of(parameters: Parameters) -> jax.Array:
    """The variance of the logarithm of a time between runs."""
    return jnp.exp(parameters["noise"]) + LEAST_NOISE


class LeftOut:
    """Predictions of the error of each row from the rows of all other kernels. `widths`: the
    standard deviations of the rows' kinds."""

    def __init__(
        self, traits: np.ndarray, errors: np.ndarray, widths: np.ndarray, kernels: Sequence[str]
    ) -> None:
        self._traits, self._errors, self._widths = map(jnp.asarray, (traits, errors, widths))
        names, group = np.unique(kernels, return_inverse=True)
        rows = [np.flatnonzero(group == number) for number in range(len(names))]
        self._members = np.zeros((len(rows), max(map(len, rows))), dtype=int)
        self._present = np.zeros(self._members.shape, dtype=bool)
        for number, own in enumerate(rows):
            self._members[number, : len(own)] = own
            self._present[number, : len(own)] = True

    def predict(self, parameters: Parameters, doubts: np.ndarray) -> tuple[jax.Array, jax.Array]:
        """For each row the error less its prediction, and the variance of the prediction. The
        inverse of the covariance of all rows contains the predictions without a kernel: the inverse
        of its block of that kernel's rows is their covariance, given all other rows."""
        inverse = jnp.linalg.inv(self._covariance(parameters) + jnp.diag(jnp.asarray(doubts)))
        own, present = self._members, self._present
        blocks = inverse[own[:, :, None], own[:, None, :]]
        both = present[:, :, None] & present[:, None, :]
        blocks = jnp.where(both, blocks, jnp.eye(own.shape[1]) * ~present[:, :, None])
        given = jnp.linalg.inv(blocks)
        pulls = jnp.where(present, (inverse @ self._errors)[own], 0.0)
        misses = jnp.einsum("kij,kj->ki", given, pulls)[present]
        variances = jnp.diagonal(given, axis1=1, axis2=2)[present]
        order = np.argsort(own[present])
        return misses[order], variances[order] - jnp.asarray(doubts)

    def _covariance(self, parameters: Parameters) -> jax.Array:
        """The covariance of all rows, as Metric.covariance computes it, and the noise."""
        places = self._traits * jnp.exp(parameters["scales"])
        squares = (places**2).sum(axis=1)
        squared = squares[:, None] + squares[None] - 2 * places @ places.T
        distances = jnp.sqrt(jnp.maximum(0.0, squared) + 1e-10)  # the root's slope is finite
        part = covary(distances, jax.nn.sigmoid(parameters["near"]), jnp.exp)
        noise = noise_of(parameters) * jnp.eye(len(squares))
        shared = jnp.minimum(self._widths[:, None], self._widths)
        return shared**2 * part + noise
