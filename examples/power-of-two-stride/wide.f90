! The problem: columns of 2048 elements of 8 bytes, 16 KiB each.
module layout
  integer, parameter :: length = 2048
end module
