! Internal procedures, which get their host's frame, recursion, and arrays whose size is known when they are made.
module heating
  implicit none
contains
  recursive function heat(depth, cells) result(mean)
    integer, intent(in) :: depth, cells
    real(8) :: mean, row(cells)
    integer :: cell
    call fill(host_value)
    mean = sum(row) / cells
    if (depth > 0) mean = mean + heat(depth - 1, cells + depth)
  contains
    real(8) function host_value(place)
      integer, intent(in) :: place
      host_value = sqrt(real(place + cells, 8)) + depth
    end function
    subroutine fill(value)
      interface
        real(8) function value(place)
          integer, intent(in) :: place
        end function
      end interface
      do cell = 1, cells
        row(cell) = value(cell)
      end do
    end subroutine
  end function
end module

program furnace
  use heating
  implicit none
  real(8) :: total
  integer :: round
  total = 0
  do round = 1, 100000000
    total = total + heat(mod(round, 12) + 3, 100)
  end do
  print *, total
end program
