! Relaxes many small blocks. Planted: the work array of each block is allocated and freed for each block.
program allocatable_in_loop
  implicit none
  integer, parameter :: n = 24, blocks = 40000000
  real(8) :: field(n, n), total
  integer :: i
#ifdef CURED
  real(8), allocatable :: kept(:, :)
  allocate(kept(n, n))
#endif
  field = 0d0
  field(n / 2, n / 2) = 1d0
  total = 0d0
  do i = 1, blocks
#ifdef CURED
     call relax(field, kept, total)
#else
     call relax_alone(field, total)
#endif
  end do
  print *, total
contains
  subroutine relax_alone(block, sum_so_far)
    real(8), intent(inout) :: block(:, :), sum_so_far
    real(8), allocatable :: work(:, :), edge(:), other(:)
    allocate(work(8, 8))                                   ! planted: heap-bound
    allocate(edge(70), other(90))                          ! planted: heap-bound
    edge(1) = block(1, 1)
    other(1) = edge(1)
    call relax(block, work, sum_so_far)
    deallocate(work)
    deallocate(edge, other)
  end subroutine

  subroutine relax(block, work, sum_so_far)
    real(8), intent(inout) :: block(:, :), work(:, :), sum_so_far
    integer :: j, k
    do k = 2, 7
       do j = 2, 7
          work(j, k) = 0.25d0 * (block(j - 1, k) + block(j + 1, k) + block(j, k - 1) + block(j, k + 1))
       end do
    end do
    sum_so_far = sum_so_far + work(3, 3) + work(5, 6)
    block(4, 4) = work(4, 4) + 1d-6
  end subroutine
end program
