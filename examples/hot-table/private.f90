! A wrong cure: the copy is made anew in every iteration, and all of it is read from the one node again.
program private_copies
  use planes
  implicit none
  real(8), save :: a(n, n)
  real(8), allocatable :: own(:, :)
  integer :: i, j, k, iteration

  call make_planes()
  do j = 1, n
    do i = 1, n
      a(i, j) = table_value(i, j)
    end do
  end do
  do iteration = 1, iterations
    !$omp parallel private(own)
    allocate (own(n, n))
    own = a
    !$omp do private(i, j) schedule(static)
    do k = 1, plane_count
      do j = 1, n
        do i = 1, n
          b(i, j, k) = b(i, j, k) + weight*own(i, j)
        end do
      end do
    end do
    !$omp end do
    deallocate (own)
    !$omp end parallel
  end do
  print '(es24.16)', sum(b)
end program
