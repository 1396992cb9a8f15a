! The same wrong cure in one word: firstprivate copies the table at the begin of every parallel region.
program firstprivate_copies
  use planes
  implicit none
  real(8), allocatable :: a(:, :)
  integer :: i, j, k, iteration

  call make_planes()
  allocate (a(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = table_value(i, j)
    end do
  end do
  do iteration = 1, iterations
    !$omp parallel do private(i, j) firstprivate(a) schedule(static)
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
