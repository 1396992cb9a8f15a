! Relaxes a field of a common block. Planted: an integer stands before it, so that all its numbers lie 4 bytes off and each
! eighth one across two cache lines. Cured: the integer stands behind it.
program common_fields
  implicit none
  integer, parameter :: n = 2000, rounds = 2500000
  integer :: count
  real(8) :: field(n), source(n)
#ifdef CURED
  common /state/ field, source, count
#else
  common /state/ count, field, source
#endif
  integer :: round
  count = 0
  field = 0d0
  source = 1d0
  do round = 1, rounds
     call relax(field, source)
     count = count + 1
  end do
  print *, sum(field), count
contains
  subroutine relax(values, sources)
    real(8), intent(inout) :: values(n)
    real(8), intent(in) :: sources(n)
    integer :: i
    do i = 1, n
       values(i) = values(i) * 0.5d0 + sources(i) ! planted: line-split-access
    end do
  end subroutine
end program
