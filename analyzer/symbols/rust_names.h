// Rust's "v0" symbol mangling, as RFC 2603 defines it.
#pragma once

#include <string>
#include <string_view>

namespace plumb::symbols {

// "_RNvMs_NtCs1_5alloc3vecINtB4_3VecpE4push" -> "<alloc::vec::Vec<_>>::push". Hashes of crates are left out. Empty if
// it is not such a symbol, or is damaged.
std::string demangle_rust_v0(std::string_view symbol);

} // namespace plumb::symbols
