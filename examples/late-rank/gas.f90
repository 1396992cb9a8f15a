! A gas that heats up and cools down, cell by cell, split between the ranks; a probe looks at the cells of one of them.
module gas
  implicit none
  integer, parameter :: real_kind = kind(1d0)
  integer, parameter :: cell_count = 60000, line_every = 100

contains

  subroutine make(temperature, source, rank)
    real(real_kind), intent(out) :: temperature(cell_count), source(cell_count)
    integer, intent(in) :: rank
    integer :: i
    temperature = 1
    do i = 1, cell_count
      source(i) = 0.5_real_kind + 0.5_real_kind * mod(i * 7919_8 + rank, int(cell_count, 8)) / cell_count
    end do
  end subroutine

  ! One step in time; `allowed`: the longest step that these cells allow next.
  subroutine advance(temperature, source, step, allowed)
    real(real_kind), intent(inout) :: temperature(cell_count)
    real(real_kind), intent(in) :: source(cell_count), step
    real(real_kind), intent(out) :: allowed
    real(real_kind) :: rate, fastest
    integer :: i
    fastest = 0
    do i = 1, cell_count
      rate = source(i) - 0.5_real_kind * sqrt(temperature(i)) * exp(-1 / temperature(i))
      temperature(i) = temperature(i) + step * rate
      fastest = max(fastest, abs(rate))
    end do
    allowed = min(0.01_real_kind, 0.01_real_kind / fastest)
  end subroutine

  ! What the probe in the middle sees of the cells' radiation, through the gas between.
  function seen_by_probe(temperature) result(seen)
    real(real_kind), intent(in) :: temperature(cell_count)
    real(real_kind) :: seen, distance
    integer :: i
    seen = 0
    do i = 1, cell_count
      distance = 1e-3_real_kind * (i - cell_count / 2)
      seen = seen + temperature(i)**4 * exp(-0.1_real_kind * abs(distance)) / (1 + distance**2)
    end do
  end function
end module
