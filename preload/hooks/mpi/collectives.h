// Bytes of collective operations: what this rank contributes, and what it gets.
//
// The contribution of a root that passes MPI_IN_PLACE is what it would have sent. What only a root or only the others
// pass is read of them alone. `sent_bytes` of operations that send something else to each member is the sum; sums
// over 8,192 members cost a microsecond or two, where such an operation costs milliseconds.
#pragma once

#include "hooks/mpi/comm_shape.h"
#include "hooks/mpi/languages.h"

namespace plumb::shim::mpi {

// `absent`: members that nothing goes to or comes from (Neighbours).
template <class L> uint64_t sum_of_counts(Word counts, int32_t members, uint64_t absent) {
    int64_t sum = 0;
    for (int32_t i = 0; i < members; ++i)
        if (!is_absent(absent, i))
            sum += L::count_in(counts, static_cast<size_t>(i));
    return sum > 0 ? static_cast<uint64_t>(sum) : 0;
}

template <class L> uint64_t bytes_by_counts(Word counts, Word datatype, int32_t members, uint64_t absent = 0) {
    const uint64_t elements = sum_of_counts<L>(counts, members, absent);
    return elements > 0 ? elements * type_bytes(type_of<L>(datatype)) : 0;
}

// Mostly the same type again and again.
template <class L> uint64_t bytes_by_types(Word counts, Word types, int32_t members, uint64_t absent = 0) {
    uint64_t sum = 0, element_bytes = 0;
    Handle last = 0;
    for (int32_t i = 0; i < members; ++i) {
        const int64_t elements = L::count_in(counts, static_cast<size_t>(i));
        if (elements <= 0 || is_absent(absent, i))
            continue;
        const Handle datatype = L::handle_at(HandleKind::type, types, static_cast<size_t>(i));
        if (datatype != last) {
            last = datatype;
            element_bytes = type_bytes(datatype);
        }
        sum += static_cast<uint64_t>(elements) * element_bytes;
    }
    return sum;
}

// Where the caller stands in an operation with a root.
struct Rooted {
    Shape shape;
    bool is_root, takes_part; // of an inter-communicator: neither, where only another member of the group is the root
};

template <class L> Rooted rooted(Word root, Handle communicator) {
    const Shape shape = shape_of(communicator);
    const int32_t rank = L::integer(root);
    if (shape.inter)
        return {shape, rank == library().root, rank != library().no_process};
    return {shape, rank == shape.rank, true};
}

inline uint64_t times(uint64_t bytes, int32_t members) { return members > 0 ? bytes * static_cast<uint64_t>(members) : 0; }

template <class L> Collective barrier(Word communicator) { return {comm_of<L>(communicator), -1, 0, 0}; }

template <class L> Collective bcast(Word count, Word datatype, Word root, Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Rooted me = rooted<L>(root, where);
    const uint64_t size = me.takes_part ? bytes_of<L>(count, datatype) : 0;
    return {where, L::integer(root), me.is_root ? size : 0, me.is_root ? 0 : size};
}

template <class L> Collective reduce(Word count, Word datatype, Word root, Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Rooted me = rooted<L>(root, where);
    const uint64_t size = me.takes_part ? bytes_of<L>(count, datatype) : 0;
    const bool contributes = !me.shape.inter || !me.is_root;
    return {where, L::integer(root), contributes ? size : 0, me.is_root ? size : 0};
}

template <class L> Collective allreduce(Word count, Word datatype, Word communicator) {
    const uint64_t size = bytes_of<L>(count, datatype);
    return {comm_of<L>(communicator), -1, size, size};
}

// Rank 0 gets nothing from MPI_Exscan, and its own from MPI_Scan.
template <class L> Collective scan(Word count, Word datatype, Word communicator) {
    return allreduce<L>(count, datatype, communicator);
}
template <class L> Collective exscan(Word count, Word datatype, Word communicator) {
    Collective operation = allreduce<L>(count, datatype, communicator);
    if (shape_of(operation.comm).rank == 0)
        operation.received_bytes = 0;
    return operation;
}

template <class L>
Collective gather(Word send_buffer, Word send_count, Word send_type, Word recv_count, Word recv_type, Word root,
                  Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Rooted me = rooted<L>(root, where);
    Collective operation{where, L::integer(root), 0, 0};
    if (me.is_root)
        operation.received_bytes = times(bytes_of<L>(recv_count, recv_type), me.shape.size);
    if (me.is_root && (me.shape.inter || L::is_in_place(send_buffer)))
        operation.sent_bytes = me.shape.inter ? 0 : bytes_of<L>(recv_count, recv_type);
    else if (me.takes_part)
        operation.sent_bytes = bytes_of<L>(send_count, send_type);
    return operation;
}

template <class L>
Collective gatherv(Word send_buffer, Word send_count, Word send_type, Word recv_counts, Word recv_type, Word root,
                   Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Rooted me = rooted<L>(root, where);
    Collective operation{where, L::integer(root), 0, 0};
    if (me.is_root)
        operation.received_bytes = bytes_by_counts<L>(recv_counts, recv_type, me.shape.size);
    if (me.is_root && me.shape.inter)
        return operation;
    if (me.is_root && L::is_in_place(send_buffer)) {
        const int64_t own = L::count_in(recv_counts, static_cast<size_t>(me.shape.rank));
        operation.sent_bytes = own > 0 ? static_cast<uint64_t>(own) * type_bytes(type_of<L>(recv_type)) : 0;
    } else if (me.takes_part) {
        operation.sent_bytes = bytes_of<L>(send_count, send_type);
    }
    return operation;
}

// The other way about: a scatter is a gather of which every byte goes in the other direction.
inline Collective reversed(Collective operation) {
    const uint64_t sent = operation.sent_bytes;
    operation.sent_bytes = operation.received_bytes;
    operation.received_bytes = sent;
    return operation;
}

template <class L>
Collective scatter(Word send_count, Word send_type, Word recv_buffer, Word recv_count, Word recv_type, Word root,
                   Word communicator) {
    return reversed(gather<L>(recv_buffer, recv_count, recv_type, send_count, send_type, root, communicator));
}

template <class L>
Collective scatterv(Word send_counts, Word send_type, Word recv_buffer, Word recv_count, Word recv_type, Word root,
                    Word communicator) {
    return reversed(gatherv<L>(recv_buffer, recv_count, recv_type, send_counts, send_type, root, communicator));
}

template <class L>
Collective allgather(Word send_buffer, Word send_count, Word send_type, Word recv_count, Word recv_type,
                     Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const uint64_t each = bytes_of<L>(recv_count, recv_type);
    return {where, -1, L::is_in_place(send_buffer) ? each : bytes_of<L>(send_count, send_type),
            times(each, shape_of(where).size)};
}

template <class L>
Collective allgatherv(Word send_buffer, Word send_count, Word send_type, Word recv_counts, Word recv_type,
                      Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Shape shape = shape_of(where);
    Collective operation{where, -1, 0, bytes_by_counts<L>(recv_counts, recv_type, shape.size)};
    if (L::is_in_place(send_buffer)) {
        const int64_t own = L::count_in(recv_counts, static_cast<size_t>(shape.rank));
        operation.sent_bytes = own > 0 ? static_cast<uint64_t>(own) * type_bytes(type_of<L>(recv_type)) : 0;
    } else {
        operation.sent_bytes = bytes_of<L>(send_count, send_type);
    }
    return operation;
}

template <class L>
Collective alltoall(Word send_buffer, Word send_count, Word send_type, Word recv_count, Word recv_type,
                    Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const int32_t members = shape_of(where).size;
    const uint64_t got = times(bytes_of<L>(recv_count, recv_type), members);
    return {where, -1, L::is_in_place(send_buffer) ? got : times(bytes_of<L>(send_count, send_type), members), got};
}

template <class L>
Collective alltoallv(Word send_buffer, Word send_counts, Word send_type, Word recv_counts, Word recv_type,
                     Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const int32_t members = shape_of(where).size;
    const uint64_t got = bytes_by_counts<L>(recv_counts, recv_type, members);
    return {where, -1, L::is_in_place(send_buffer) ? got : bytes_by_counts<L>(send_counts, send_type, members), got};
}

template <class L>
Collective alltoallw(Word send_buffer, Word send_counts, Word send_types, Word recv_counts, Word recv_types,
                     Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const int32_t members = shape_of(where).size;
    const uint64_t got = bytes_by_types<L>(recv_counts, recv_types, members);
    return {where, -1, L::is_in_place(send_buffer) ? got : bytes_by_types<L>(send_counts, send_types, members), got};
}

// On a window or file, whose members are those of the communicator that it was made on.
template <class L> Collective on_window(Word window) { return {window_of<L>(window), -1, 0, 0}; }
template <class L> Collective on_file(Word file) { return {file_of<L>(file), -1, 0, 0}; }

// A vector for all members goes in, this rank's part of the result comes out. Of an inter-communicator, recv_counts
// are those of the caller's own group.
template <class L> Collective reduce_scatter(Word recv_counts, Word datatype, Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Shape shape = shape_of(where);
    Collective operation{where, -1, 0, 0};
    const int64_t own = shape.inter ? 0 : L::count_in(recv_counts, static_cast<size_t>(shape.rank));
    operation.sent_bytes = shape.inter ? 0 : bytes_by_counts<L>(recv_counts, datatype, shape.size);
    operation.received_bytes = own > 0 ? static_cast<uint64_t>(own) * type_bytes(type_of<L>(datatype)) : 0;
    return operation;
}

template <class L> Collective reduce_scatter_block(Word recv_count, Word datatype, Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const uint64_t part = bytes_of<L>(recv_count, datatype);
    return {where, -1, times(part, shape_of(where).size), part};
}

template <class L>
Collective neighbor_allgather(Word send_count, Word send_type, Word recv_count, Word recv_type, Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Neighbours neighbours = neighbours_of(where);
    return {where, -1, times(bytes_of<L>(send_count, send_type), neighbours.present(neighbours.out)),
            times(bytes_of<L>(recv_count, recv_type), neighbours.present(neighbours.in))};
}

template <class L>
Collective neighbor_allgatherv(Word send_count, Word send_type, Word recv_counts, Word recv_type, Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Neighbours neighbours = neighbours_of(where);
    return {where, -1, times(bytes_of<L>(send_count, send_type), neighbours.present(neighbours.out)),
            bytes_by_counts<L>(recv_counts, recv_type, neighbours.in, neighbours.absent)};
}

template <class L>
Collective neighbor_alltoall(Word send_count, Word send_type, Word recv_count, Word recv_type, Word communicator) {
    return neighbor_allgather<L>(send_count, send_type, recv_count, recv_type, communicator);
}

template <class L>
Collective neighbor_alltoallv(Word send_counts, Word send_type, Word recv_counts, Word recv_type, Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Neighbours neighbours = neighbours_of(where);
    return {where, -1, bytes_by_counts<L>(send_counts, send_type, neighbours.out, neighbours.absent),
            bytes_by_counts<L>(recv_counts, recv_type, neighbours.in, neighbours.absent)};
}

template <class L>
Collective neighbor_alltoallw(Word send_counts, Word send_types, Word recv_counts, Word recv_types,
                              Word communicator) {
    const Handle where = comm_of<L>(communicator);
    const Neighbours neighbours = neighbours_of(where);
    return {where, -1, bytes_by_types<L>(send_counts, send_types, neighbours.out, neighbours.absent),
            bytes_by_types<L>(recv_counts, recv_types, neighbours.in, neighbours.absent)};
}

} // namespace plumb::shim::mpi
