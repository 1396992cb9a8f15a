#include "analyses/time/parallel_runtime.h"

#include "model/call_paths.h"

namespace plumb {

namespace {

uint32_t first_user_node(const std::vector<model::PathNode>& nodes, uint32_t node) {
    for (size_t depth = 0; node != 0 && node < nodes.size() && nodes[node].kernel && depth < model::kMostCallers; ++depth)
        node = nodes[node].parent;
    return node;
}

} // namespace

ParallelRuntime parallel_runtime_of(model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    uint32_t at = node;
    for (size_t depth = 0; at != 0 && at < nodes.size() && depth < model::kMostCallers; ++depth, at = nodes[at].parent) {
        const model::Module* module = paths.module_of(process, nodes[at].address);
        if (!module || nodes[at].kernel)
            continue;
        if (model::is_mpi_module(module->path))
            return ParallelRuntime::mpi;
        if (model::is_openmp_module(module->path) && at == first_user_node(nodes, node))
            return ParallelRuntime::openmp;
        if (model::is_program_code(*module)) // libraries that MPI loads need not be known
            break;
    }
    return ParallelRuntime::none;
}

} // namespace plumb
