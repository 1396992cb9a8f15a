#!/bin/bash
# two-hosts.sh COMMAND...: runs a command on the first of two hosts that are joined by a cable of 100 Mbit/s. Both are on this machine:
# each is a network of its own with a name of its own, node0 and node1. Needs root, iproute2 and util-linux; where users may make
# namespaces, `unshare --user --map-root-user --net` in front of it does instead. enter-host.sh stands for ssh between them.
set -euo pipefail

sleepers=()
trap 'kill "${sleepers[@]}" 2>/dev/null' EXIT
for host in 0 1; do
    unshare --net --uts sh -c "hostname node$host; ip link set lo up; exec sleep infinity" &
    sleepers+=($!)
done
export HOST_node0=${sleepers[0]} HOST_node1=${sleepers[1]}
for host in 0 1; do # until each is there
    until [ "$(nsenter --target "${sleepers[host]}" --uts hostname 2>/dev/null)" = "node$host" ]; do
        kill -0 "${sleepers[host]}" 2>/dev/null || { echo "two-hosts.sh: node$host could not be made: root is needed" >&2; exit 1; }
        sleep 0.05
    done
done

ip link add name "cable0.$$" type veth peer name "cable1.$$"
for host in 0 1; do
    ip link set "cable$host.$$" netns "${sleepers[host]}" name cable
    nsenter --target "${sleepers[host]}" --net sh -euc "
        tc qdisc add dev cable root tbf rate 100mbit burst 32kbit latency 50ms
        ip addr add 192.168.211.$((host + 1))/24 dev cable
        ip link set cable up"
done
nsenter --target "${sleepers[0]}" --net --uts -- "$@"
