// Array types of debug info: dimensions, and the subscripts of an element.
#pragma once

#include <cstdint>
#include <elfutils/libdw.h>
#include <string>
#include <vector>

namespace plumb::symbols {

struct ArrayDimension {
    int64_t lower = 0;
    uint64_t count = 0; // 0: not known before run time
};

struct ArrayShape {
    std::vector<ArrayDimension> dimensions; // as written in the source
    uint64_t element_bytes = 0;             // 0: not known
    bool fortran = false;                   // written with (), the first subscript runs fastest
    bool has_descriptor = false;            // the variable is a descriptor (allocatable), the elements are elsewhere
};

ArrayShape shape_of_array(Dwarf_Die* array_type);
uint64_t bytes_of_array(const ArrayShape& shape); // 0: not known

// "[3][2]", "(3,2)" of the element number `index` in memory; "[]", "(:)" where the inner dimensions are not known.
std::string text_of_subscripts(const ArrayShape& shape, uint64_t index);

// "[10][4]", "(1024)", "(0:9,*)"
std::string text_of_shape(const ArrayShape& shape);

} // namespace plumb::symbols
