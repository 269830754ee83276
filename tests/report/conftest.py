"""Fixtures of small fitted models of every kind, and their pages."""

import pytest
from report_models import KINDS, fitted


@pytest.fixture(params=KINDS)
def each(request):
    """One fitted model after the other."""
    return fitted(request.param)


@pytest.fixture
def get():
    """A function that returns the fitted model of a kind."""
    return fitted
