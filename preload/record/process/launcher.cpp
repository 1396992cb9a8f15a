#include "record/process/launcher.h"

#include "platform/os/files.h"
#include "platform/os/ids_and_clocks.h"
#include "platform/os/text.h"

namespace plumb::shim {
namespace {

const char* value_in(const void* context, const char* name) {
    const auto* variable = static_cast<const char* const*>(context);
    const size_t length = strlen(name);
    for (; variable && *variable; ++variable)
        if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
            return *variable + length + 1;
    return nullptr;
}

// "PID (name) state parent ...": the name may hold blanks and parentheses.
int read_ancestor(const void*, long pid, char name[launchers::kNameRoom], long* parent) {
    Text<32> path;
    path << "/proc/" << static_cast<uint64_t>(pid) << "/stat";
    char text[512];
    if (read_whole_file(path.c_str(), text, sizeof text) <= 0)
        return 0;
    const char* begin = strchr(text, '(');
    const char* end = strrchr(text, ')');
    if (!begin || !end || end < begin || end[1] != ' ' || !end[2] || end[3] != ' ')
        return 0;
    const size_t length = static_cast<size_t>(end - begin - 1);
    if (length >= launchers::kNameRoom)
        return 0;
    memcpy(name, begin + 1, length);
    name[length] = '\0';
    *parent = static_cast<long>(parse_number(end + 4, 0));
    return 1;
}

launchers::Surroundings surroundings(const char* const* environment) {
    return {environment, value_in, read_ancestor, static_cast<long>(parent_process_id())};
}

} // namespace

LaunchFacts read_launch_facts(const char* const* environment) {
    const launchers::Surroundings around = surroundings(environment);
    const launchers::RankPlace place = launchers::find_rank(&around);
    if (!place.launcher)
        return {};
    return {place.launcher->name, place.rank, place.count, place.local_rank, place.local_count};
}

JobName read_job_name(const char* const* environment) {
    const launchers::Surroundings around = surroundings(environment);
    const launchers::RankPlace place = launchers::find_rank(&around);
    if (!place.launcher)
        return {};
    const char* job = launchers::job_name(place.launcher, &around);
    return {job, job && place.launcher->step ? value_in(environment, place.launcher->step) : nullptr};
}

} // namespace plumb::shim
