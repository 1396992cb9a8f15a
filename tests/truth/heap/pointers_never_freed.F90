! Traces particles through a field, a list of places for each. Planted: the lists are pointers that nobody frees.
program pointers_never_freed
  implicit none
  type path
     real(8), pointer :: places(:) => null()
  end type
  integer, parameter :: particles = 40000, steps = 1200
  integer :: i
  real(8) :: total
  total = 0d0
  do i = 1, particles
     call trace(i, total)
  end do
  print *, total
contains
  subroutine trace(number, sum_so_far)
    integer, intent(in) :: number
    real(8), intent(inout) :: sum_so_far
    type(path) :: own
    integer :: step
    real(8) :: place, speed
    allocate(own%places(steps))                        ! planted: heap-leak
    place = number * 1d-3
    speed = 1d0
    do step = 1, steps
       speed = speed - 1d-3 * sin(place)
       place = place + 1d-3 * speed
       own%places(step) = place
    end do
    sum_so_far = sum_so_far + maxval(own%places)
#ifdef CURED
    deallocate(own%places)
#endif
  end subroutine
end program
