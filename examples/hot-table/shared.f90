! Version 1: the table is filled by one thread, and all threads read all of it in every plane.
program shared
  use planes
  implicit none
  real(8), save :: a(n, n)
  integer :: i, j, k, iteration

  call make_planes()
  do j = 1, n
    do i = 1, n
      a(i, j) = table_value(i, j)
    end do
  end do
  do iteration = 1, iterations
    !$omp parallel do private(i, j) schedule(static)
    do k = 1, plane_count
      do j = 1, n
        do i = 1, n
          b(i, j, k) = b(i, j, k) + weight*a(i, j)
        end do
      end do
    end do
  end do
  print '(es24.16)', sum(b)
end program
