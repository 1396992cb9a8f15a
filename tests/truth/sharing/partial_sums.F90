! Each OpenMP thread adds into its own element of a shared array, many times. Planted: the elements stand side by side.
! Cured: each has a column of eight numbers, a cache line, for itself.
program partial_sums
  use omp_lib
  implicit none
#ifdef CURED
  integer, parameter :: pitch = 8
#else
  integer, parameter :: pitch = 1
#endif
  integer, parameter :: threads = 2
  integer(8), parameter :: steps = 250000000
  real(8) :: sums(pitch, 64)
  integer(8) :: i
  integer :: me
  sums = 0
  !$omp parallel num_threads(threads) private(me, i)
  me = omp_get_thread_num() + 9
  do i = 1, steps
     call add(sums(1, me), 1d0 / i)
  end do
  !$omp end parallel
  print *, sum(sums)
contains
  subroutine add(total, value)
    real(8), intent(inout), volatile :: total
    real(8), intent(in) :: value
    total = total + value ! planted: false-sharing
  end subroutine
end program
