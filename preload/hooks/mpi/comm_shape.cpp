#include "hooks/mpi/comm_shape.h"

#include "record/mpi/library/library.h"

#include <atomic>

namespace plumb::shim::mpi {
namespace {

using Ask = int (*)(Handle, int*);

// A function of the library, looked up when it is first wanted. 0 if there is none or it fails.
class Question {
  public:
    constexpr explicit Question(const char* name) : name_(name), function_(nullptr) {}

    int32_t of(Handle comm) {
        int32_t answer = 0;
        const auto ask = reinterpret_cast<Ask>(function());
        return ask && ask(comm, &answer) == 0 ? answer : 0;
    }
    void* function() {
        void* found = function_.load(std::memory_order_relaxed);
        if (!found) {
            found = find_own_function(name_);
            function_.store(found, std::memory_order_relaxed);
        }
        return found;
    }

  private:
    const char* name_;
    std::atomic<void*> function_;
};

constinit Question rank{"PMPI_Comm_rank"}, size{"PMPI_Comm_size"}, remote_size{"PMPI_Comm_remote_size"},
    test_inter{"PMPI_Comm_test_inter"}, topology{"PMPI_Topo_test"}, dimensions{"PMPI_Cartdim_get"}, shift{"PMPI_Cart_shift"},
    graph_neighbours{"PMPI_Graph_neighbors_count"}, dist_graph_neighbours{"PMPI_Dist_graph_neighbors_count"};

// MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH.
struct Topologies {
    int cart, graph, dist_graph;
};
Topologies topologies() {
    switch (library().kind) {
    case trace::MpiLibrary::open_mpi:
        return {1, 2, 3};
    case trace::MpiLibrary::mpich:
        return {2, 1, 3};
    case trace::MpiLibrary::standard_abi:
        return {211, 212, 213};
    case trace::MpiLibrary::unknown:
        break;
    }
    return {0, 0, 0};
}

// Of each dimension, the neighbour below and the one above.
uint64_t beyond_edges(Handle comm, int32_t grid_dimensions) {
    const auto ask = reinterpret_cast<int (*)(Handle, int, int, int*, int*)>(shift.function());
    uint64_t absent = 0;
    for (int32_t i = 0; ask && i < grid_dimensions && i < 32; ++i) {
        int below = 0, above = 0;
        if (ask(comm, i, 1, &below, &above) != 0)
            continue;
        absent |= uint64_t{below == library().no_process} << 2 * i;
        absent |= uint64_t{above == library().no_process} << (2 * i + 1);
    }
    return absent;
}

} // namespace

Shape shape_of(Handle comm) {
    const bool inter = test_inter.of(comm) != 0;
    return {rank.of(comm), inter ? remote_size.of(comm) : size.of(comm), inter};
}

Neighbours neighbours_of(Handle comm) {
    const Topologies known = topologies();
    const int kind = topology.of(comm);
    if (kind == known.cart) {
        const int32_t count = dimensions.of(comm);
        return {2 * count, 2 * count, beyond_edges(comm, count)};
    }
    if (kind == known.graph) {
        int count = 0;
        const auto ask = reinterpret_cast<int (*)(Handle, int, int*)>(graph_neighbours.function());
        if (ask && ask(comm, rank.of(comm), &count) == 0)
            return {count, count, 0};
    }
    if (kind == known.dist_graph) {
        int in = 0, out = 0, weighted = 0;
        const auto ask = reinterpret_cast<int (*)(Handle, int*, int*, int*)>(dist_graph_neighbours.function());
        if (ask && ask(comm, &in, &out, &weighted) == 0)
            return {in, out, 0};
    }
    return {0, 0, 0};
}

} // namespace plumb::shim::mpi
