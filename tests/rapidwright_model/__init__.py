"""A RapidWright without devices that runs scripts strictly: its classes are those of the index (api.json)."""

from tests.rapidwright_model.calls import API, RapidWrightError
from tests.rapidwright_model.model import RapidWright

__all__ = ["API", "RapidWright", "RapidWrightError"]
