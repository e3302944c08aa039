#!/usr/bin/env bash
# the page in Firefox: what the first part plays in Chromium
# on: src/ui src/apiserver/http tests/page tests/e2e/lib.sh tests/e2e/notebook_server.py tests/e2e/notebook_attacks.py
BROWSER=firefox script tests/e2e/page_test.sh
BROWSER=firefox script tests/e2e/pipelines_page_test.sh
BROWSER=firefox script tests/e2e/notebooks_test.sh
BROWSER=firefox script tests/e2e/page_many_test.sh
