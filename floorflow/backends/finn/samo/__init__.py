"""FINN as SAMO knew it: the estimators of its fork of 2022-03."""
