#include "symbols/elf/names.h"

#include <catch2/catch.hpp>
#include <utility>

using namespace plumb::symbols;

TEST_CASE("signatures are cut down to the name") {
    const std::pair<const char*, const char*> cases[] = {
        {"main", "main"},
        {"f(int)", "f"},
        {"ns::f(int, char const*)", "ns::f"},
        {"void ns::f<int>(std::vector<int>&) const", "ns::f<int>"},
        {"(anonymous namespace)::Hidden::work(int) const", "(anonymous namespace)::Hidden::work"},
        {"bool operator< <char>(Key const&, Key const&)", "operator< <char>"},
        {"std::ostream& operator<<(std::ostream&, Key const&)", "operator<<"},
        {"Key::operator()(int) const", "Key::operator()"},
        {"Key::operator long() const", "Key::operator long"},
        {"Key::operator std::vector<int, A<int> >() const", "Key::operator std::vector<int, A<int>>"},
        {"Key::operator->() const", "Key::operator->"},
        {"operator new(unsigned long)", "operator new"},
        {"operator delete[](void*)", "operator delete[]"},
        {"a::b(int)::{lambda(char)#1}::operator()(char) const", "a::b::{lambda(char)#1}::operator()"},
        {"a::b(int) const::Local::go()", "a::b::Local::go"},
        {"void (*pick(int))(char)", "void (*pick(int))(char)"}, // returned whole
        {"std::enable_if<(1)>1, int>::type f<int>(int)", "f<int>"},
        {"decltype (auto) f<int>(int)", "f<int>"},
        {"A<(B)2>::f()", "A<(B)2>::f"},
        {"Foo::Foo(Foo&&) [clone .cold]", "Foo::Foo"},
        {"Foo::~Foo()", "Foo::~Foo"},
        {"f(std::function<void (int)>)", "f"},
        {"std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()"},
        {"name[abi:cxx11](int)", "name"},
        {"broken(", "broken("},
        {"", ""},
    };
    for (const auto& [declaration, name] : cases)
        CHECK(without_signature(declaration) == name);
}

TEST_CASE("linker symbols become names") {
    const std::pair<const char*, const char*> cases[] = {
        {"printf", "printf"},
        {"memcpy@@GLIBC_2.14", "memcpy"},
        {"_ZN4grid5FieldIdE5relaxEd", "grid::Field<double>::relax"},
        {"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv", "std::string::size"},
        {"foo.constprop.0", "foo [clone .constprop.0]"},
        {"foo.constprop.0.isra.0", "foo [clone .constprop.0.isra.0]"},
        {"_Z3fooi.part.0", "foo [clone .part.0]"},
        {"main.cold", "main [clone .cold]"},
        {"foo._omp_fn.1", "foo [omp region 1]"},
        {"_ZN1w1A2goEv._omp_fn.12", "w::A::go [omp region 12]"},
        {"foo._omp_fn.0.cold", "foo [omp region 0] [clone .cold]"},
        {"table.lto_priv.3", "table"},
        {".omp_outlined.", "[omp region]"},
        {"__heat_MOD_relax", "heat::relax"},
        {"__heat_MOD_relax._omp_fn.2", "heat::relax [omp region 2]"},
        {"__MOD_", "__MOD_"},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
        {"_ZN61_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
         "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt"},
        {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
        {"_RNvMs_NtCs1_5alloc3vecINtB4_3VecpE4push", "<alloc::vec::Vec<_>>::push"},
        {"_RNCNvCs1_7mycrate4main0", "mycrate::main::{closure#0}"},
        {"_RNCNvCs1_7mycrate4mains_0", "mycrate::main::{closure#1}"},
        {"_RNCNCNvCs1_7mycrate4main00", "mycrate::main::{closure#0}::{closure#0}"},
        {"_RINvCs1_7mycrate3foolhE", "mycrate::foo::<i32, u8>"},
        {"_RNvXCs1_7mycrateNtB2_1SNtB2_1T1f", "<mycrate::S as mycrate::T>::f"},
        {"_RINvCs1_7mycrate3fooRShKj4_E", "mycrate::foo::<&[u8], 4>"},
        {"_RNvCs1_7mycrate3foo.llvm.123", "mycrate::foo"},
        {"_RNvCslNYArtu3iFV_5alloc3foo", "alloc::foo"}, // the hash fills 64 bits
        {"_RNvB0_3foo", "_RNvB0_3foo"},   // refers to itself
        {"_RNvCs1_99x3foo", "_RNvCs1_99x3foo"}, // cut
        {"_R", "_R"},
        {"_Z", "_Z"},
        {"_ZNotMangled", "_ZNotMangled"},
    };
    for (const auto& [symbol, name] : cases)
        CHECK(readable_name(symbol) == name);
}

TEST_CASE("a Rust symbol whose back references unfold without end stays as it is") {
    const auto base_62 = [](size_t number) {
        constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        std::string text = "_";
        if (number > 0)
            for (size_t rest = number - 1; text.size() == 1 || rest > 0; rest /= 62)
                text.insert(text.begin(), kDigits[rest % 62]);
        return text;
    };
    std::string symbol = "_RINvC1a1fTuuE";
    for (size_t level = 0, before = symbol.size() - 4 - 2; level < 40; ++level) { // each a pair of the one before
        const size_t begin = symbol.size() - 2;
        symbol += "TB" + base_62(before) + "B" + base_62(before) + "E";
        before = begin;
    }
    symbol += "E";
    CHECK(readable_name(symbol) == symbol);
}

TEST_CASE("gfortran's underscores go, those of others stay") {
    CHECK(readable_fortran_name("daxpy_") == "daxpy");
    CHECK(readable_fortran_name("my_sub__") == "my_sub");
    CHECK(readable_fortran_name("weight.0") == "weight");
    CHECK(readable_fortran_name("__heat_MOD_relax") == "heat::relax");
    CHECK(readable_fortran_name("_start") == "_start");
    CHECK(readable_fortran_name("MPI_Init_") == "MPI_Init_");
    CHECK(readable_name("daxpy_") == "daxpy_");
}
