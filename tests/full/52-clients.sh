#!/usr/bin/env bash
# clients of the registries of Python (the training SDK, kubernetes, kfp), npm, Maven and Rust: commands in pods, forwarded ports
# on: src tests/clients tests/e2e
script tests/clients/python_test.sh
script tests/clients/dask_test.sh
script tests/clients/javascript_test.sh
script tests/clients/java_test.sh
script tests/clients/rust_test.sh
script tests/clients/kfp_test.sh
script tests/clients/kfp1_test.sh
script tests/clients/kfp_stores_test.sh
