# What scripts that play the page share. need_browser NAME: ends the script with a skip where Node.js or the browser is missing, and
# installs the page's packages. BROWSER=firefox plays it in Firefox instead of Chromium.
export CHROMIUM=${CHROMIUM:-/usr/lib/chromium/chromium-headless-shell} FIREFOX=${FIREFOX:-/usr/bin/firefox-esr} BROWSER=${BROWSER:-chromium}
browser_lacks() { # prints what is missing; fails if all is there
  local need program=$CHROMIUM
  [ "$BROWSER" = firefox ] && program=$FIREFOX
  for need in node npm "$program"; do command -v "$need" > /dev/null || { echo "$need is not installed"; return 0; }; done
  return 1
}
page_packages() { (cd src/ui/page && { npm ls --silent > /dev/null 2>&1 || npm ci --no-audit --no-fund --silent; }); }
need_browser() {
  local lacking
  lacking=$(browser_lacks) && { echo "skip $1: $lacking"; exit 0; }
  page_packages || { echo "FAIL $1: npm ci failed"; exit 1; }
}
