#!/bin/sh
# JupyterLab as a notebook's server: below its prefix, and without a token of its own, since only its proxy reaches it by a person's rights.
exec python3 -m jupyterlab --ip=0.0.0.0 --port=8888 --no-browser --ServerApp.base_url="${NB_PREFIX:-/}" \
  --IdentityProvider.token= --ServerApp.password= --ServerApp.allow_origin='*' --ServerApp.allow_remote_access=True \
  --ServerApp.root_dir="$HOME" --ServerApp.terminado_settings='{"shell_command": ["/bin/bash", "-l"]}' "$@"
