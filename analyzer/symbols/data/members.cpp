#include "symbols/data/members.h"

#include "symbols/data/arrays.h"
#include "symbols/data/types.h"

#include <dwarf.h>
#include <optional>
#include <string>
#include <vector>

namespace plumb::symbols {

namespace {

constexpr int kMaxDepth = 32;      // of members of members
constexpr int kMaxVisits = 20'000; // of members in one search: unions are searched whole

// A structure on the way, and the member taken in it.
struct Level {
    Dwarf_Die holder;
    std::string alias; // its other name
    MemberRange range;
    uint32_t alignment = 0;
    bool misplaced = false;
};

struct Way {
    std::string text;
    std::vector<Level> levels; // from the outermost structure
    int fit = 0;
};

class Search {
  public:
    explicit Search(uint32_t width) : width_(width) {}

    Way into(Dwarf_Die type, const std::string& alias, uint64_t offset, int depth) {
        if (depth > kMaxDepth)
            return {};
        if (dwarf_tag(&type) == DW_TAG_array_type)
            return into_array(type, offset, depth);
        if (is_structure(&type))
            return into_structure(type, alias, offset, depth);
        Way way;
        const uint64_t bytes = size_of(&type);
        way.fit = offset == 0 && (bytes == width_ || width_ == 0) ? 2 : 1;
        return way;
    }

  private:
    Way into_array(Dwarf_Die& array, uint64_t offset, int depth) {
        const ArrayShape shape = shape_of_array(&array);
        std::optional<Dwarf_Die> element = type_of(&array);
        if (shape.has_descriptor || shape.element_bytes == 0 || !element || shape.dimensions.empty())
            return {};
        Way way = into(*element, alias_of(&array), offset % shape.element_bytes, depth + 1);
        way.text.insert(0, text_of_subscripts(shape, offset / shape.element_bytes));
        return way;
    }

    Way into_structure(Dwarf_Die& structure, const std::string& alias, uint64_t offset, int depth) {
        Way best;
        Dwarf_Die child;
        if (dwarf_child(&structure, &child) != 0)
            return best;
        do {
            const int tag = dwarf_tag(&child);
            if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || ++visits_ > kMaxVisits)
                continue;
            const std::optional<MemberRange> range = range_of_member(&child);
            std::optional<Dwarf_Die> type = type_of(&child);
            if (!range || !type || offset < range->offset)
                continue;
            // A flexible array at the end has no size.
            const bool flexible = range->bytes == 0 && dwarf_tag(&*type) == DW_TAG_array_type;
            if (!flexible && offset - range->offset >= range->bytes)
                continue;
            Way way{{}, {}, 1};
            if (!range->bit_field)
                way = into(*type, alias_of(&child), offset - range->offset, depth + 1);
            if (way.fit <= best.fit && best.fit > 0)
                continue;
            enter(structure, alias, child, *type, *range, way);
            best = std::move(way);
        } while (best.fit < 2 && dwarf_siblingof(&child, &child) == 0);
        return best;
    }

    static void enter(Dwarf_Die& structure, const std::string& alias, Dwarf_Die& member, Dwarf_Die& type,
                      const MemberRange& range, Way& way) {
        // Members of base classes and of unnamed structures are named as if they were the outer one's own.
        const char* name = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : nullptr;
        if (name && *name)
            way.text = (is_fortran(&structure) ? "%" : ".") + std::string(name) + way.text;
        Level level{structure, alias, range, range.bit_field ? 0 : alignment_of(&type), false};
        if (level.alignment > 1)
            level.misplaced = range.offset % level.alignment != 0 || size_of(&structure) % level.alignment != 0;
        way.levels.insert(way.levels.begin(), level);
        way.fit = std::max(way.fit, 1);
    }

    uint32_t width_;
    int visits_ = 0;
};

} // namespace

int describe_member(Dwarf_Die* type, const std::string& alias, Access access, model::DataName& name) {
    const Way way = Search(access.width).into(*type, alias, access.offset, 0);
    name.member = way.text;
    if (way.levels.empty())
        return way.fit;
    Level level = way.levels.back();
    for (const Level& each : way.levels)
        if (each.misplaced)
            level = each;
    name.holder = name_of_type(&level.holder, level.alias);
    SourcePlace place = place_of(&level.holder);
    name.holder_file = std::move(place.file);
    name.holder_line = place.line;
    name.member_offset = level.range.offset;
    name.member_size = level.range.bytes;
    name.member_alignment = level.alignment;
    name.packed = level.misplaced;
    return way.fit;
}

} // namespace plumb::symbols
