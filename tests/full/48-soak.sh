#!/usr/bin/env bash
# everything hostile at once, for SOAK_SECONDS
# on: src tests/hostile
# The release build: what sanitizers add would hide what is measured.
PATIENCE=2 script tests/hostile/soak.py
