#include "analyses/time/openmp_call.h"

#include "model/call_paths.h"

#include <algorithm>
#include <initializer_list>

namespace plumb {

namespace {

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

bool enters_critical(std::string_view function) {
    return is_any_of(function, {"GOMP_critical_start", "GOMP_critical_name_start", "GOMP_atomic_start", "omp_set_lock",
                                "omp_set_nest_lock", "omp_set_lock_", "omp_set_nest_lock_"}) ||
           is_any_of(function, {"__kmpc_critical", "__kmpc_critical_with_hint", "__kmpc_set_lock", "__kmpc_set_nest_lock"}) ||
           (function.starts_with("__kmp_acquire_") && function.find("_lock") != function.npos);
}

bool leaves_critical(std::string_view function) {
    return is_any_of(function, {"GOMP_critical_end", "GOMP_critical_name_end", "GOMP_atomic_end", "omp_unset_lock",
                                "omp_unset_nest_lock", "omp_unset_lock_", "omp_unset_nest_lock_"}) ||
           is_any_of(function, {"__kmpc_end_critical", "__kmpc_unset_lock", "__kmpc_unset_nest_lock"}) ||
           (function.starts_with("__kmp_release_") && function.find("_lock") != function.npos);
}

} // namespace

// Chunks of an ordered loop are left out: taking one may wait. So is GOMP_taskloop, which waits for its tasks at its end.
OpenMpCall openmp_call_named(std::string_view function) {
    function = function.substr(0, function.rfind("+0x"));
    if (function == "GOMP_task" || function.starts_with("__kmpc_omp_task_alloc") ||
        is_any_of(function, {"__kmpc_omp_task", "__kmpc_omp_task_with_deps"}))
        return OpenMpCall::making_tasks;
    if (function.starts_with("GOMP_taskwait") || function.starts_with("__kmpc_omp_taskwait") ||
        is_any_of(function, {"GOMP_taskyield", "GOMP_taskgroup_end", "__kmpc_omp_taskyield", "__kmpc_end_taskgroup"}))
        return OpenMpCall::waiting_for_tasks;
    if (function.starts_with("__kmpc_dispatch_next_") ||
        (function.starts_with("GOMP_loop_") && function.ends_with("_next") && function.find("ordered") == function.npos))
        return OpenMpCall::taking_chunks;
    if (enters_critical(function))
        return OpenMpCall::entering_critical;
    return leaves_critical(function) ? OpenMpCall::leaving_critical : OpenMpCall::other;
}

// The function is the one that the program calls: by the stub that its code calls, because the runtime's functions jump to others
// that have no names; where another library stands between (plumb's own), by the runtime's symbol.
OpenMpCall openmp_call_of(model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    uint32_t entry = 0;
    for (size_t depth = 0; node != 0 && node < nodes.size() && depth < model::kMostCallers; ++depth, node = nodes[node].parent) {
        if (nodes[node].kernel)
            continue;
        const model::Module* module = paths.module_of(process, nodes[node].address);
        if (!module || !model::is_system_module(module->path))
            break;
        if (model::is_openmp_module(module->path))
            entry = node;
    }
    if (entry == 0)
        return OpenMpCall::none;
    const OpenMpCall call = openmp_call_named(paths.frames_of(process, entry).back().function);
    return call != OpenMpCall::other ? call : openmp_call_named(paths.called_function(process, nodes[entry].parent));
}

} // namespace plumb
