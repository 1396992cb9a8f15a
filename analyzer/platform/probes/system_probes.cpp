// What the kernel reports about threads, CPUs and the machine.
#include "platform/probes/probe.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <hwloc.h>
#include <sstream>
#include <string>
#include <unistd.h>

namespace plumb::platform {

namespace {

using State = ProbeResult::State;

std::string content(const char* path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

ProbeResult schedule_accounts() {
    std::istringstream fields(content("/proc/self/schedstat"));
    unsigned long long run = 0, delay = 0, turns = 0;
    if (!(fields >> run >> delay >> turns))
        return {State::missing, "/proc/self/schedstat cannot be read", "mount /proc; a kernel with CONFIG_SCHED_INFO"};
    if (run == 0)
        return {State::missing, "/proc/self/schedstat counts nothing", "sysctl kernel.sched_schedstats=1"};
    return {State::ok, fmt::format("ran {} us, waited {} us for a CPU in {} turns so far", run / 1000, delay / 1000, turns),
            ""};
}

ProbeResult migrations() {
    if (content("/proc/self/sched").find("se.nr_migrations") == std::string::npos)
        return {State::limited, "/proc/PID/sched has no migration count: only moves seen between two readings are counted",
                "a kernel with CONFIG_SCHED_DEBUG"};
    return {State::ok, "/proc/PID/sched counts every migration", ""};
}

ProbeResult steal() {
    std::istringstream fields(content("/proc/stat"));
    std::string cpu;
    unsigned long long value[8] = {};
    fields >> cpu;
    for (auto& each : value)
        if (!(fields >> each))
            return {State::missing, "/proc/stat has no steal column", "mount /proc"};
    return {State::ok,
            value[7] ? fmt::format("{} ticks were stolen by the hypervisor since boot", value[7])
                     : std::string("no steal since boot (bare metal, or the hypervisor does not report it)"),
            ""};
}

ProbeResult interrupts() {
    const std::string text = content("/proc/interrupts");
    if (text.empty())
        return {State::missing, "/proc/interrupts cannot be read", "mount /proc, or leave the container"};
    return {State::ok, fmt::format("{} sources", std::count(text.begin(), text.end(), '\n') - 1), ""};
}

ProbeResult topology() {
    hwloc_topology_t machine;
    if (hwloc_topology_init(&machine) != 0)
        return {State::missing, "hwloc cannot be initialised", ""};
    const bool loaded = hwloc_topology_load(machine) == 0;
    std::string seen;
    if (loaded)
        seen = fmt::format("hwloc sees {} package(s), {} NUMA node(s), {} core(s), {} CPU(s)",
                           hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE),
                           hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_NUMANODE),
                           hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE),
                           hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU));
    hwloc_topology_destroy(machine);
    return loaded ? ProbeResult{State::ok, seen, ""} : ProbeResult{State::missing, "hwloc cannot load this machine", "mount /sys"};
}

// The shim's files are mapped and must be allocated ahead, so that a full disk cannot harm the program.
ProbeResult run_files() {
    const char* path = "plumb-doctor-trial";
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return {State::limited, fmt::format("the current directory is not writable: {}", strerror(errno)),
                "plumb run -o DIRECTORY"};
    const int error = posix_fallocate(file, 0, 1 << 20);
    close(file);
    unlink(path);
    if (error)
        return {State::limited, fmt::format("the current directory's file system cannot reserve space: {}", strerror(error)),
                "plumb run -o DIRECTORY on another file system"};
    return {State::ok, "the current directory can hold run directories", ""};
}

ProbeResult debug_info_servers() {
    const char* urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !*urls)
        return {State::limited, "DEBUGINFOD_URLS is not set: only debug info of this machine is used",
                "export DEBUGINFOD_URLS=(the server of your distribution)"};
    return {State::ok, fmt::format("DEBUGINFOD_URLS={}", urls), ""};
}

constexpr Probe kSystemProbes[] = {
    {"schedule", "run time and run delay of every thread", schedule_accounts},
    {"migrations", "how often threads changed CPU", migrations},
    {"steal", "time the hypervisor took", steal},
    {"interrupts", "interrupts by source and CPU", interrupts},
    {"topology", "placement: packages, NUMA nodes, caches, cores", topology},
    {"run-files", "run directories", run_files},
    {"debuginfod", "source lines of the distribution's own programs", debug_info_servers},
};

} // namespace

std::span<const Probe> system_probes() { return kSystemProbes; }

} // namespace plumb::platform
