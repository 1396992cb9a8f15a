// How a binding passes arguments. Every hook takes and passes on whole words; only here are they read, and cut to
// what the binding really defines of them: the upper half of a word that carries an int is anything.
//
// C passes values, and handles inside pointers where a function changes them. Fortran passes addresses, handles
// are INTEGERs (mpi_f08's derived types hold exactly one), and mpi_f08 may pass a descriptor instead of a buffer.
#pragma once

#include "record/mpi/library/library.h"

#include <string.h>

namespace plumb::shim::mpi {

using Word = uintptr_t;

template <class Value> Value value_at(Word address, size_t index = 0) {
    Value value;
    memcpy(&value, reinterpret_cast<const char*>(address) + index * sizeof value, sizeof value);
    return value;
}

inline const void* pointer(Word word) { return reinterpret_cast<const void*>(word); }

// Count: what the binding's counts are, int or (large) 64 bits.
template <class Count> struct InC {
    static constexpr bool kFortran = false;

    static int32_t integer(Word word) { return static_cast<int32_t>(word); }
    static int64_t count(Word word) { return static_cast<Count>(word); }
    static int64_t count_in(Word array, size_t index) { return value_at<Count>(array, index); }
    static int32_t integer_at(Word address, size_t index = 0) { return value_at<int32_t>(address, index); }

    // Files of the MPICH family are pointers, all others numbers.
    static bool is_number(HandleKind kind) { return library().handle_bytes == 4 && kind != HandleKind::file; }
    static Handle handle_at(HandleKind kind, Word array, size_t index = 0) {
        return is_number(kind) ? value_at<uint32_t>(array, index) : value_at<uint64_t>(array, index);
    }
    static Handle handle(HandleKind kind, Word word) { return is_number(kind) ? static_cast<uint32_t>(word) : word; }
    static Handle raw_handle(HandleKind, Word word) { return word; }
    static bool is_in_place(Word buffer) { return pointer(buffer) == library().in_place; }
    static bool is_ignored_status(Word status) { return pointer(status) == library().ignored_status; }
    static size_t status_bytes() { return library().status_bytes; }
};
using C = InC<int32_t>;
using CLarge = InC<int64_t>;

template <class Count, bool descriptors> struct InFortran {
    static constexpr bool kFortran = true;

    static int32_t integer(Word word) { return value_at<int32_t>(word); }
    static int64_t count(Word word) { return value_at<Count>(word); }
    static int64_t count_in(Word array, size_t index) { return value_at<Count>(array, index); }
    static int32_t integer_at(Word address, size_t index = 0) { return value_at<int32_t>(address, index); }

    static Handle handle_at(HandleKind kind, Word array, size_t index = 0) {
        return from_fortran(kind, value_at<int32_t>(array, index));
    }
    static Handle handle(HandleKind kind, Word word) { return handle_at(kind, word); }
    static Handle raw_handle(HandleKind kind, Word word) { return handle_at(kind, word); }
    static bool is_in_place(Word buffer) {
        // The first member of a descriptor (ISO_Fortran_binding.h) is the address.
        return is_in_place_in_fortran(pointer(descriptors ? value_at<Word>(buffer) : buffer));
    }
    static bool is_ignored_status(Word status) { return is_ignored_status_in_fortran(pointer(status)); }
    static size_t status_bytes() { return library().status_integers * sizeof(int32_t); }
};
using Fortran = InFortran<int32_t, false>;
using FortranLarge = InFortran<int64_t, false>;
using FortranDescriptors = InFortran<int32_t, true>;
using FortranLargeDescriptors = InFortran<int64_t, true>;

// As C has it, whose upper half means nothing where handles have 32 bits.
template <class L> Handle raw_comm_of(Word word) { return L::raw_handle(HandleKind::comm, word); }
template <class L> Handle comm_of(Word word) { return L::handle(HandleKind::comm, word); }
template <class L> Handle type_of(Word word) { return L::handle(HandleKind::type, word); }
template <class L> Handle window_of(Word word) { return window_key(L::handle(HandleKind::window, word)); }
template <class L> Handle file_of(Word word) { return file_key(L::handle(HandleKind::file, word)); }
template <class L> Handle comm_at(Word word) { return L::handle_at(HandleKind::comm, word); }
template <class L> Handle type_at(Word word) { return L::handle_at(HandleKind::type, word); }
template <class L> Handle window_at(Word word) { return window_key(L::handle_at(HandleKind::window, word)); }
template <class L> Handle file_at(Word word) { return file_key(L::handle_at(HandleKind::file, word)); }
template <class L> Handle message_at(Word word) { return L::handle_at(HandleKind::message, word); }
template <class L> Handle request_at(Word word, size_t index = 0) {
    return L::handle_at(HandleKind::request, word, index);
}

// Types of no elements may be null.
template <class L> uint64_t bytes_of(Word count, Word datatype) {
    const int64_t elements = L::count(count);
    return elements > 0 ? static_cast<uint64_t>(elements) * type_bytes(type_of<L>(datatype)) : 0;
}

} // namespace plumb::shim::mpi
