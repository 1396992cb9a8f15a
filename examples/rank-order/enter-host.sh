#!/bin/sh
# enter-host.sh [OPTIONS OF SSH] HOST COMMAND...: in the place of ssh, on one of the hosts of two-hosts.sh.
while [ "${1#-}" != "$1" ]; do shift; done
eval "sleeper=\$HOST_$1"
shift
exec nsenter --target "$sleeper" --net --uts -- sh -c "$*"
