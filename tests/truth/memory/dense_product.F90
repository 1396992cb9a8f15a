! A dense product, blocked so that it stays in the caches.
program dense_product
  implicit none
  integer, parameter :: n = 1536, b = 48
  real(8), allocatable :: a(:, :), c(:, :), d(:, :)
  integer :: i, j, k, jj, kk
  allocate(a(n + 8, n), c(n + 8, n), d(n + 8, n))
  call random_number(a)
  call random_number(c)
  d = 0d0
  do jj = 1, n, b
     do kk = 1, n, b
        do j = jj, jj + b - 1
           do k = kk, kk + b - 1
              do i = 1, n
                 d(i, j) = d(i, j) + a(i, k) * c(k, j)
              end do
           end do
        end do
     end do
  end do
  print *, sum(d(1:n, :))
end program
