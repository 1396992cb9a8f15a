! Every call of derivative() makes the halo valid, whether the derivative needs it or not, and sends each row of it as a
! message of its own. Usage: mpirun -n RANKS wave-row-by-row-f [steps]; RANKS must divide 48.
program row_by_row
  use wave
  implicit none
  real(real_kind), allocatable :: p(:, :, :), d(:, :, :, :)
  real(real_kind) :: begin
  integer :: step, steps, direction, error

  call start()
  steps = steps_asked_for()
  allocate (p(n, 0:width + 1, n), d(n, 0:width + 1, n, 3))
  call fill(p)
  d = 0
  call MPI_Barrier(MPI_COMM_WORLD, error)
  begin = MPI_Wtime()
  do step = 1, steps
    do direction = along_x, along_z
      call derivative(p, direction, 0.2_real_kind, d(:, :, :, direction))
    end do
    do direction = along_x, along_z
      call derivative(d(:, :, :, direction), direction, 0.2_real_kind, p)
    end do
  end do
  call print_energy(p, d, steps, MPI_Wtime() - begin)
  call MPI_Finalize(error)

contains

  subroutine derivative(field, direction, step, total)
    real(real_kind), intent(inout) :: field(n, 0:width + 1, n), total(n, 0:width + 1, n)
    integer, intent(in) :: direction
    real(real_kind), intent(in) :: step
    call exchange_rows(field)
    call add_differences(field, direction, step, total)
  end subroutine

  subroutine exchange_rows(field)
    real(real_kind), intent(inout), asynchronous :: field(n, 0:width + 1, n)
    integer :: requests(4 * n), z, tag
    do z = 1, n
      tag = 2 * z
      call MPI_Irecv(field(1, 0, z), n, MPI_DOUBLE_PRECISION, below, tag, MPI_COMM_WORLD, &
        requests(tag - 1), error)
      call MPI_Irecv(field(1, width + 1, z), n, MPI_DOUBLE_PRECISION, above, tag + 1, MPI_COMM_WORLD, &
        requests(tag), error)
    end do
    do z = 1, n
      tag = 2 * z
      call MPI_Isend(field(1, width, z), n, MPI_DOUBLE_PRECISION, above, tag, MPI_COMM_WORLD, &
        requests(2 * n + tag - 1), error)
      call MPI_Isend(field(1, 1, z), n, MPI_DOUBLE_PRECISION, below, tag + 1, MPI_COMM_WORLD, &
        requests(2 * n + tag), error)
    end do
    call MPI_Waitall(4 * n, requests, MPI_STATUSES_IGNORE, error)
  end subroutine
end program
