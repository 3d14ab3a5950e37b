"""Shared tools of the black-box suites. docs/testing.md explains how to run a suite by hand."""
