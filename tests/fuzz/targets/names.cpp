#include "target.h"

#include "symbols/elf/names.h"

namespace plumb::fuzz {

namespace {

// A symbol is as long as its file likes, its readable name must not be out of all proportion to it.
constexpr size_t kMostGrowth = 1 << 20;

void look_at(const std::string& name, size_t from) { require(name.size() <= kMostGrowth + 16 * from); }

} // namespace

void run_names(Bytes input) {
    const std::string_view symbol = as_text(input);
    look_at(symbols::readable_name(symbol), symbol.size());
    look_at(symbols::readable_fortran_name(symbol), symbol.size());
    look_at(symbols::without_signature(symbol), symbol.size());
    look_at(symbols::tidy_name(std::string(symbol)), symbol.size());
    look_at(symbols::omp_region_of(symbol), symbol.size());
}

Seeds seeds_of_names() {
    Seeds seeds;
    for (const char* symbol :
         {"_RNvMs_NtCs1_5alloc3vecINtB4_3VecpE4push", "_RNvNtCs1_4core3fmt5write", "_RNCNvCs1_3app4main0B3_",
          "_RINvCs1_3app3mapFmEuKj3_E", "_RNvXs_Cs1_3appRSlNtB4_5Trait3run", "_RNvYTmhENtCs1_3app5Trait3run",
          "_RIC0DNtCs1_3app5Traitp4ItemmEL_E", "_RNvCs1_3appu4k_bua", "_ZN3app4main17h0123456789abcdefE",
          "_ZN4Grid5relaxERSt6vectorIdSaIdEEi", "_ZZN3nsa4stepEiENKUlvE_clEv", "_ZNSt6vectorISsSaISsEE9push_backERKSs",
          "__solver_MOD_step", "daxpy_", "seed.3", "step.constprop.0", "step._omp_fn.1", ".omp_outlined._debug__.4",
          "void ns::f<int>(std::vector<int>&) const", "operator<< <char>(std::ostream&, char)",
          "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)",
          "(anonymous namespace)::run(void (*)(int))", "decltype(f()) a::b<(a::c)1>::operator()() &&"})
        seeds.emplace_back(std::to_string(seeds.size()), symbol);
    return seeds;
}

} // namespace plumb::fuzz
