// Names of code that lies in no file: the kernel's symbols and what JIT compilers wrote down about their code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumb::symbols {

class AddressNames {
  public:
    // /proc/kallsyms. Empty where the kernel shows zeros instead of addresses (kptr_restrict).
    static AddressNames from_kallsyms(const std::string& path);
    // perf-PID.map: "START SIZE name" in hexadecimal. Later entries replace earlier ones that they overlap.
    // Nothing from a link, a pipe, a device or a file of holes: whoever may write there is not trusted.
    static AddressNames from_perf_map(const std::string& path);
    static AddressNames from_perf_map(int descriptor); // of such a file, which is closed; negative: none

    bool empty() const { return ranges_.empty(); }
    // Name and offset into it.
    std::optional<std::pair<std::string, uint64_t>> at(uint64_t address) const;
    std::optional<uint64_t> address_of(std::string_view name) const; // searches all of them

    // Calls take(begin, name) for each, by address.
    template <typename Take> void for_each(Take take) const {
        for (const Range& range : ranges_)
            take(range.begin, std::string_view(text_).substr(range.name, range.length));
    }

  private:
    struct Range {
        uint64_t begin, end;
        size_t name; // where it begins in text_
        size_t length;
    };
    void add(uint64_t begin, uint64_t end, std::string_view name);
    void sort();

    std::string text_; // all names: a kernel has more than a hundred thousand
    std::vector<Range> ranges_; // by begin
};

} // namespace plumb::symbols
