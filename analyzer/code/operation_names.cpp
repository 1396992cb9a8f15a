#include "code/operation_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace plumb::code {

namespace {

using Kind = Operation::Kind;

constexpr auto kRoots = std::to_array<std::pair<std::string_view, Kind>>({
    {"add", Kind::add},
    {"sub", Kind::add},
    {"addsub", Kind::add},
    {"hadd", Kind::add},
    {"hsub", Kind::add},
    {"mul", Kind::multiply},
    {"div", Kind::divide},
    {"rcp", Kind::divide}, // an approximation
    {"rcp14", Kind::divide},
    {"sqrt", Kind::square_root},
    {"rsqrt", Kind::square_root},
    {"rsqrt14", Kind::square_root},
    {"min", Kind::extreme},
    {"max", Kind::extreme},
    {"cmp", Kind::compare},
    {"comi", Kind::compare},
    {"ucomi", Kind::compare},
    {"mov", Kind::move},
    {"mova", Kind::move},
    {"movu", Kind::move},
    {"movl", Kind::move},
    {"movh", Kind::move},
    {"movnt", Kind::move},
    {"maskmov", Kind::move},
    {"movlh", Kind::arrange},
    {"movhl", Kind::arrange},
    {"unpckl", Kind::arrange},
    {"unpckh", Kind::arrange},
    {"shuf", Kind::arrange},
    {"permil", Kind::arrange},
    {"perm", Kind::arrange},
    {"blend", Kind::arrange},
    {"blendv", Kind::arrange},
    {"blendm", Kind::arrange},
    {"broadcast", Kind::arrange},
    {"insert", Kind::arrange},
    {"extract", Kind::arrange},
    {"and", Kind::bitwise},
    {"andn", Kind::bitwise},
    {"or", Kind::bitwise},
    {"xor", Kind::bitwise},
    {"round", Kind::bitwise},
    {"rndscale", Kind::bitwise},
    {"gatherd", Kind::gather},
    {"gatherq", Kind::gather},
    {"scatterd", Kind::gather},
    {"scatterq", Kind::gather},
});

// Of x87, where each is scalar. "fsubrp" begins with "fsub".
constexpr auto kX87Beginnings = std::to_array<std::pair<std::string_view, Kind>>({
    {"fadd", Kind::add},
    {"fsub", Kind::add},
    {"fmul", Kind::multiply},
    {"fdiv", Kind::divide},
    {"fsqrt", Kind::square_root},
    {"fcom", Kind::compare},
    {"fucom", Kind::compare},
    {"fild", Kind::convert_integer},
    {"fist", Kind::convert_integer},
    {"fld", Kind::move},
    {"fst", Kind::move},
});
constexpr uint8_t kX87Bytes = 10;

bool is_fused(std::string_view name) {
    return name.starts_with("fmadd") || name.starts_with("fmsub") || name.starts_with("fnmadd") || name.starts_with("fnmsub");
}

uint8_t element_of(std::string_view suffix) { return suffix[1] == 'd' ? 8 : 4; }

// "cvtss2sd", "cvttsd2si", "cvtdq2pd": what is on both sides of the 2.
Operation conversion(std::string_view name, unsigned vector_bytes) {
    name.remove_prefix(3);
    if (name.starts_with('t')) // truncates
        name.remove_prefix(1);
    const size_t two = name.find('2');
    if (two == name.npos || two + 3 > name.size())
        return {};
    const std::string_view from = name.substr(0, two), to = name.substr(two + 1, 2);
    const auto is_real = [](std::string_view side) {
        return side.size() == 2 && (side[0] == 's' || side[0] == 'p') && (side[1] == 's' || side[1] == 'd');
    };
    Operation operation;
    operation.kind = is_real(from) && is_real(to) ? Kind::convert_precision : Kind::convert_integer;
    const std::string_view real = is_real(to) ? to : from;
    if (!is_real(real))
        return {};
    operation.element_bytes = element_of(real);
    const uint8_t widest = is_real(from) && is_real(to) ? 8 : operation.element_bytes;
    operation.lanes = real[0] == 's' ? 1 : static_cast<uint8_t>(std::max(1u, vector_bytes / widest));
    return operation;
}

} // namespace

int addend_of_fused(std::string_view mnemonic) {
    return mnemonic.find("231") != mnemonic.npos ? 0 : mnemonic.find("132") != mnemonic.npos ? 1 : 2;
}

Operation operation_named(std::string_view name, unsigned vector_bytes) {
    Operation operation;
    if (vector_bytes == 0) {
        if (!name.starts_with('f'))
            return operation;
        for (const auto& [beginning, kind] : kX87Beginnings)
            if (name.starts_with(beginning))
                return {kind, kX87Bytes, 1};
        return operation;
    }
    if (name.starts_with('v'))
        name.remove_prefix(1);
    if (name.size() < 4)
        return operation;
    if (name.starts_with("cvt"))
        return conversion(name, vector_bytes);
    if (name == "movddup")
        return {Kind::arrange, 8, static_cast<uint8_t>(vector_bytes / 8)};
    const std::string_view suffix = name.substr(name.size() - 2);
    if ((suffix[0] != 's' && suffix[0] != 'p') || (suffix[1] != 's' && suffix[1] != 'd'))
        return operation;
    const std::string_view root = name.substr(0, name.size() - 2);
    if (is_fused(root))
        operation.kind = Kind::fused;
    else if (const auto found = std::ranges::find(kRoots, root, &std::pair<std::string_view, Kind>::first); found != kRoots.end())
        operation.kind = found->second;
    else
        return operation;
    operation.element_bytes = element_of(suffix);
    const bool half = root == "movl" || root == "movh"; // 8 bytes of a register
    operation.lanes = suffix[0] == 's' || half ? 1 : static_cast<uint8_t>(std::max(1u, vector_bytes / operation.element_bytes));
    return operation;
}

} // namespace plumb::code
