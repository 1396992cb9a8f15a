! Sums along the last dimension of a cube. Planted: planes of 128 x 128 numbers, 128 KiB apart, fall into one set of the
! caches. Cured: planes of 129 x 129 numbers.
program planes_of_a_cube
  implicit none
  integer, parameter :: n = 128, rounds = 500
#ifdef CURED
  integer, parameter :: pitch = n + 1
#else
  integer, parameter :: pitch = n
#endif
  real(8), allocatable :: cube(:, :, :)
  real(8) :: total, all
  integer :: round, i, j, k
  allocate(cube(pitch, pitch, n))
  cube = 1d0
  all = 0
  do round = 1, rounds
     do j = 1, n
        do i = 1, n, 8
           total = 0
           do k = 1, n
              total = total + cube(i, j, k) * round ! planted: power-of-two-stride
           end do
           all = all + total
        end do
     end do
  end do
  print *, all
end program
