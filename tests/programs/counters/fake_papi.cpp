// A stand-in for libpapi on machines without counters. It knows the truth of plumb's known work, and lies about it as it is asked to.
//
// FAKE_PAPI: "NAME=KIND[:NUMBER] ...", events that are known:
//   times:F   counts F times what is right (for the known work), or F x 2 for each ns of CPU time (for another program)
//   first     counts the first thread of a process alone
//   negative  counts backwards
//   noadd     cannot be added            nostart   can be added, but not be started
// FAKE_PAPI_CPUS: a list of CPUs that count ("0"); FAKE_PAPI_VERSION: "7.1"; FAKE_PAPI_LOG: a file to which each load adds a line.
#include "record/counters/known_work.h"

#include <papi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using plumb::record::Quantity;

struct Event {
    std::string name, kind;
    double factor = 1;
};

struct Set {
    std::vector<Event> events;
    pid_t target = 0;
    bool inherits = false;
    std::vector<double> begin, latest;
};

std::map<std::string, Event> known;
std::map<int, Set> sets;
int version = PAPI_VER_CURRENT;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The fields of a stat file behind the name.
std::vector<double> stat_fields(const std::string& path) {
    const std::string text = text_of(path);
    const size_t end = text.rfind(')');
    std::vector<double> fields;
    if (end == std::string::npos)
        return fields;
    std::istringstream words(text.substr(end + 4)); // behind the state
    for (double field = 0; words >> field;)
        fields.push_back(field);
    return fields;
}

bool counts_on(int cpu) {
    const char* list = getenv("FAKE_PAPI_CPUS");
    return !list || std::to_string(cpu) == list;
}

double known_of_thread(const std::string& name, bool is_first) {
    const plumb::record::KnownThreadWork work = plumb::record::known_thread_work(is_first);
    const double loads = is_first ? static_cast<double>(plumb::record::known_scattered_loads()) : 0;
    if (name == "PAPI_TOT_INS")
        return static_cast<double>(work.instructions);
    if (name == "PAPI_TOT_CYC" || name == "PAPI_REF_CYC")
        return static_cast<double>(work.instructions) / 2;
    if (name == "PAPI_DP_OPS")
        return static_cast<double>(work.double_operations);
    if (name == "FP_ARITH:SCALAR_DOUBLE")
        return static_cast<double>(work.scalar_double_operations);
    if (name == "PAPI_BR_INS")
        return static_cast<double>(work.branches);
    if (name == "PAPI_RES_STL" || name == "PAPI_BR_MSP")
        return 100;
    if (name == "CYCLE_ACTIVITY:STALLS_MEM_ANY" || name == "CYCLE_ACTIVITY:STALLS_L3_MISS")
        return 100 * loads;
    if (name == "PAPI_L1_DCM" || name == "PAPI_L3_TCM" || name == "PAPI_TLB_DM")
        return loads;
    return 0;
}

double count_of(const Event& event, pid_t pid, bool inherits) {
    const std::string folder = "/proc/" + std::to_string(pid);
    if (event.kind == "negative")
        return -static_cast<double>(stat_fields(folder + "/stat").size()) - 5;
    if (text_of(folder + "/comm") != std::string(plumb::record::KnownWork::kName) + "\n") {
        const std::vector<double> fields = stat_fields(folder + "/stat");
        constexpr size_t kUser = 10, kChildrenSystem = 13;
        double ticks = 0;
        for (size_t i = kUser; i <= kChildrenSystem && i < fields.size(); ++i)
            ticks += fields[i];
        return event.factor * 2e9 * ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
    double sum = 0;
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator(folder + "/task", error)) {
        const bool is_first = task.path().filename() == std::to_string(pid);
        const std::vector<double> fields = stat_fields(task.path() / "stat");
        constexpr size_t kProcessor = 35;
        if (fields.size() > kProcessor && counts_on(static_cast<int>(fields[kProcessor])) && (is_first || (inherits && event.kind != "first")))
            sum += event.factor * known_of_thread(event.name, is_first);
    }
    return sum;
}

// Of a target that has ended, what was read before.
void read_set(Set& set, long long* values) {
    for (size_t i = 0; i < set.events.size(); ++i) {
        if (kill(set.target, 0) == 0)
            set.latest[i] = count_of(set.events[i], set.target, set.inherits);
        values[i] = static_cast<long long>(set.latest[i] - (set.events[i].kind == "negative" ? 0 : set.begin[i]));
    }
}

} // namespace

EXPORT int PAPI_library_init(int wanted) {
    if (const char* own = getenv("FAKE_PAPI_VERSION")) {
        int major = 0, minor = 0;
        sscanf(own, "%d.%d", &major, &minor);
        version = major << 24 | minor << 16;
    }
    if (wanted != version)
        return PAPI_EINVAL;
    if (const char* log = getenv("FAKE_PAPI_LOG"))
        std::ofstream(log, std::ios::app) << "loaded\n";
    std::istringstream words(getenv("FAKE_PAPI") ? getenv("FAKE_PAPI") : "");
    for (std::string word; words >> word;) {
        const size_t equal = word.find('='), colon = word.find(':', equal);
        Event event{word.substr(0, equal), word.substr(equal + 1, colon == std::string::npos ? colon : colon - equal - 1), 1};
        if (colon != std::string::npos)
            event.factor = atof(word.c_str() + colon + 1);
        known[event.name] = event;
    }
    return version;
}
EXPORT char* PAPI_strerror(int code) {
    return const_cast<char*>(code == PAPI_ENOEVNT ? "Event does not exist" : code == PAPI_ECNFLCT ? "Event exists, but cannot be counted"
                                                                                                   : "Invalid argument");
}
EXPORT int PAPI_create_eventset(int* set) {
    static int next = 0;
    sets[*set = next++] = {};
    return PAPI_OK;
}
EXPORT int PAPI_assign_eventset_component(int, int) { return PAPI_OK; }
EXPORT int PAPI_set_opt(int, PAPI_option_t* option) {
    sets[option->inherit.eventset].inherits = true;
    return PAPI_OK;
}
EXPORT int PAPI_attach(int set, unsigned long pid) {
    sets[set].target = static_cast<pid_t>(pid);
    return PAPI_OK;
}
EXPORT int PAPI_add_named_event(int set, const char* name) {
    const auto event = known.find(name);
    if (event == known.end() || event->second.kind == "noadd")
        return PAPI_ENOEVNT;
    sets[set].events.push_back(event->second);
    return PAPI_OK;
}
EXPORT int PAPI_start(int number) {
    Set& set = sets[number];
    for (const Event& event : set.events)
        if (event.kind == "nostart")
            return PAPI_ECNFLCT;
    set.begin.clear();
    for (const Event& event : set.events) // known work counts as a whole: it begins behind this
        set.begin.push_back(text_of("/proc/" + std::to_string(set.target) + "/comm").starts_with("plumb-known")
                                ? 0
                                : count_of(event, set.target, set.inherits));
    set.latest = set.begin;
    return PAPI_OK;
}
EXPORT int PAPI_read(int set, long long* values) {
    read_set(sets[set], values);
    return PAPI_OK;
}
EXPORT int PAPI_stop(int set, long long* values) {
    return PAPI_read(set, values);
}
EXPORT int PAPI_cleanup_eventset(int) { return PAPI_OK; }
EXPORT int PAPI_destroy_eventset(int* set) {
    sets.erase(*set);
    *set = PAPI_NULL;
    return PAPI_OK;
}
