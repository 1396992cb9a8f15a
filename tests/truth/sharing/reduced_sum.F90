! The sum of a series by all threads, each in a sum of its own, by OpenMP's reduction.
program reduced_sum
  implicit none
  integer(8), parameter :: terms = 600000000
  integer(8) :: i
  real(8) :: total
  total = 0d0
  !$omp parallel do num_threads(2) reduction(+:total)
  do i = 1, terms
     total = total + 1d0 / (2d0 * i - 1d0)
  end do
  !$omp end parallel do
  print *, total
end program
