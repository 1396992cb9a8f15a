#include "record/access/replay/packed_instructions.h"

#if defined(PLUMB_CAN_REPLAY)

#include <algorithm>
#include <map>
#include <numeric>

namespace plumb::record {
namespace {

bool is_vector_register(ZydisRegister reg) {
    return (reg >= ZYDIS_REGISTER_XMM0 && reg <= ZYDIS_REGISTER_XMM31) || (reg >= ZYDIS_REGISTER_YMM0 && reg <= ZYDIS_REGISTER_ZMM31);
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) { return std::ranges::find(names, name) != names.end(); }

} // namespace

bool is_vector(const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_vector_register(operand.reg.value);
}

bool has_vector(const DecodedInstruction& each) {
    return std::any_of(each.operands, each.operands + each.instruction.operand_count_visible,
                       [](const ZydisDecodedOperand& operand) { return is_vector(operand); });
}

bool is_vex(const DecodedInstruction& each) { return each.instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX; }

std::string plain_name(const ZydisEncoder& library, const DecodedInstruction& each) {
    std::string name = library.mnemonic_name(each.instruction.mnemonic);
    return is_vex(each) && name.starts_with('v') ? name.substr(1) : name;
}

std::optional<ZydisMnemonic> mnemonic_named(const ZydisEncoder& library, const std::string& name) {
    static const std::map<std::string, ZydisMnemonic> all = [&] {
        std::map<std::string, ZydisMnemonic> made;
        for (int i = ZYDIS_MNEMONIC_INVALID + 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; ++i)
            made.emplace(library.mnemonic_name(static_cast<ZydisMnemonic>(i)), static_cast<ZydisMnemonic>(i));
        return made;
    }();
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
}

Elements elements_of(std::string_view name) {
    if (name == "cvtss2sd")
        return {8, 4, true};
    if (name == "cvtsd2ss")
        return {4, 8, true};
    if (name == "cvtsi2sd")
        return {8, 4, true};
    if (name == "cvtsi2ss")
        return {4, 4, true};
    if (name.starts_with("cvt") || name.starts_with('p')) // to integers; pminsd is one of those
        return {};
    if (name.ends_with("sd"))
        return {8, 8, false};
    if (name.ends_with("ss"))
        return {4, 4, false};
    return {};
}

bool compares_into_flags(std::string_view name) { return is_one_of(name, {"ucomiss", "ucomisd", "comiss", "comisd"}); }

bool is_whole(std::string_view name) {
    return is_one_of(name, {"andps", "andpd", "andnps", "andnpd", "orps", "orpd", "xorps", "xorpd", "pxor", "por", "pand", "pandn", "movaps",
                            "movapd", "movdqa"});
}

bool computes(std::string_view name) { return elements_of(name).to != 0 && !name.starts_with("mov") && !compares_into_flags(name); }

bool is_zeroing(std::string_view name, const DecodedInstruction& each) {
    if (!is_one_of(name, {"xorps", "xorpd", "pxor"}) || each.memory >= 0)
        return false;
    const int count = each.instruction.operand_count_visible;
    return each.operands[count - 1].reg.value == each.operands[count - 2].reg.value;
}

unsigned number_of(ZydisRegister reg) {
    return static_cast<unsigned>(reg >= ZYDIS_REGISTER_ZMM0   ? reg - ZYDIS_REGISTER_ZMM0
                                 : reg >= ZYDIS_REGISTER_YMM0 ? reg - ZYDIS_REGISTER_YMM0
                                                              : reg - ZYDIS_REGISTER_XMM0);
}

bool takes_one_vector(std::string_view name) {
    return elements_of(name).converts || name.starts_with("sqrt") || name.starts_with("rcp") || name.starts_with("rsqrt") ||
           name.starts_with("round");
}

unsigned equal_parts(const ZydisEncoder& library, const std::vector<DecodedInstruction>& loop) {
    std::map<std::string, unsigned> counts;
    for (const DecodedInstruction& each : loop)
        if (const std::string name = plain_name(library, each); has_vector(each) && !is_zeroing(name, each))
            ++counts[name];
    unsigned parts = 0;
    for (const auto& [name, count] : counts)
        parts = std::gcd(parts, count);
    return parts;
}

std::string packed_name(std::string_view name) {
    if (name.starts_with("cvtsi2"))
        return name.ends_with("sd") ? "cvtdq2pd" : "cvtdq2ps";
    if (elements_of(name).converts)
        return name == "cvtss2sd" ? "cvtps2pd" : "cvtpd2ps";
    std::string packed(name);
    packed[packed.size() - 2] = 'p';
    return packed;
}

bool loads_from_anywhere(std::string_view packed) { return is_one_of(packed, {"cvtps2pd", "cvtdq2pd"}); }

} // namespace plumb::record

#endif
