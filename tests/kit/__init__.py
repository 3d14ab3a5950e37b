"""Shared tools of the black-box suites. docs/testing.md says how a suite is run by hand."""
