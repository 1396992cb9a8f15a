! Version 2, the cure: each thread makes a copy of the table once, in memory of its own, and keeps it.
module own_table
  implicit none
  real(8), allocatable, save :: own(:, :)
  !$omp threadprivate(own)
end module

program owned
  use planes
  use own_table
  implicit none
  real(8), save :: a(n, n)
  integer :: i, j, k, iteration

  call make_planes()
  do j = 1, n
    do i = 1, n
      a(i, j) = table_value(i, j)
    end do
  end do
  !$omp parallel
  allocate (own(n, n))
  own = a
  !$omp end parallel
  do iteration = 1, iterations
    !$omp parallel do private(i, j) schedule(static)
    do k = 1, plane_count
      do j = 1, n
        do i = 1, n
          b(i, j, k) = b(i, j, k) + weight*own(i, j)
        end do
      end do
    end do
  end do
  print '(es24.16)', sum(b)
end program
