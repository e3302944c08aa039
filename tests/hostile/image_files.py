"""What images are made of: entries of archives, and what a shell needs."""
import os
import shutil
import subprocess
import tarfile

CAN_RUN = os.geteuid() == 0 and all(shutil.which(word) for word in ("runc", "conmon", "ip"))
HAS_TOOLS = all(shutil.which(word) for word in ("skopeo", "umoci"))


def entry(name, kind=tarfile.REGTYPE, link="", mode=0o755):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    if kind in (tarfile.CHRTYPE, tarfile.BLKTYPE):
        info.devmajor, info.devminor = 8, 0
    return info


def shell_root():
    """What `sh` needs, as tar entries."""
    entries = [(entry("bin", tarfile.DIRTYPE), None)]
    needed = subprocess.run(["ldd", "/bin/dash"], capture_output=True, text=True, check=True).stdout
    for word in ["/bin/dash"] + [word for word in needed.split() if word.startswith("/")]:
        with open(word, "rb") as file:
            entries.append((entry("bin/sh" if word == "/bin/dash" else word[1:]), file.read()))
    return entries
