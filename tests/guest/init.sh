#!/bin/sh
# The guest's first process: runs /job and hands /results over, as a tar file written to the first disk.
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /results
hostname guest
ifconfig lo 127.0.0.1 up
# What the host waits for: from here on, the time is the job's.
echo "guest is up"
cd /root
# A job that hangs is given up here, so that what it did until then comes back.
timeout -s KILL "$(cat /limit)" sh /job >/results/stdout 2>/results/stderr
echo $? >/results/status
dmesg >/results/dmesg
tar -c -f /dev/nvme0n1 -C /results . && sync
echo "guest is done"
poweroff -f
