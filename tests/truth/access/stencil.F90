! A stencil in the cache, vectorised: reads at i - 1 and i + 1 cross lines by their nature, and no alignment changes that.
program stencil
  implicit none
  integer, parameter :: n = 4000, rounds = 400000
  real(8) :: a(n), b(n)
  integer :: round, i
  a = [(mod(i, 17) * 1d0, i = 1, n)]
  b = a
  do round = 1, rounds
     do i = 2, n - 1
        b(i) = 0.25d0 * a(i - 1) + 0.5d0 * a(i) + 0.25d0 * a(i + 1)
     end do
     do i = 2, n - 1
        a(i) = 0.25d0 * b(i - 1) + 0.5d0 * b(i) + 0.25d0 * b(i + 1)
     end do
  end do
  print *, sum(a)
end program
